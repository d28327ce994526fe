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

app.get('/games/:game/top', async (req, res) => {
  const count = Number(req.query.count ?? 10);
  if (!Number.isInteger(count) || count < 1) return res.status(400).json({ error: 'count must be 1 or more' });
  const flat = await redis.zrevrange(key(req.params.game), 0, count - 1, 'WITHSCORES');
  const top = [];
  for (let at = 0; at < flat.length; at += 2) {
    top.push({ rank: at / 2 + 1, player: flat[at], score: Number(flat[at + 1]) });
  }
  res.json(top);
});

app.listen(process.env.PORT || 3000, () => console.log('leaderboard is up'));
