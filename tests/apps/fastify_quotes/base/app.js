import Fastify from 'fastify';
import quotes from './routes/quotes.js';

export function build(opts = {}) {
  const app = Fastify(opts);
  app.get('/healthz', async () => ({ ok: true }));
  app.register(quotes, { prefix: '/quotes' });
  return app;
}
