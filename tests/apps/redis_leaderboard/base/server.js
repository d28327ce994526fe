const express = require('express');
const { Redis } = require('ioredis');

const redis = new Redis(process.env.REDIS_URL || 'redis://localhost:6379/0', { maxRetriesPerRequest: 2 });
const app = express();
app.use(express.json());

const key = (game) => `scores:${game}`;

app.get('/health', async (req, res) => {
  try {
    await redis.ping();
    res.json({ redis: 'ok' });
  } catch (error) {
    res.status(503).json({ redis: error.message });
  }
});

app.put('/games/:game/players/:player', async (req, res) => {
  const score = Number(req.body?.score);
  if (!Number.isFinite(score)) return res.status(400).json({ error: 'score must be a number' });
  await redis.zadd(key(req.params.game), score, req.params.player);
  res.json({ player: req.params.player, score });
});

app.get('/games/:game/players/:player', async (req, res) => {
  const score = await redis.zscore(key(req.params.game), req.params.player);
  if (score === null) return res.status(404).json({ error: 'player has no score' });
  res.json({ player: req.params.player, score: Number(score) });
});

app.listen(process.env.PORT || 3000, () => console.log('leaderboard is up'));
