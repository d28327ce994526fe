import 'dotenv/config';
import { build } from './app.js';

const app = build({ logger: { level: process.env.LOG_LEVEL ?? 'info' } });

try {
  await app.listen({ port: Number(process.env.PORT ?? 4000), host: process.env.HOST ?? '127.0.0.1' });
} catch (err) {
  app.log.error(err);
  process.exit(1);
}
