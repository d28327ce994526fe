import { randomUUID } from 'node:crypto';
import express, { type Express, type Request, type Response } from 'express';
import { config } from './config';
import { type Line, type Order, total } from './order';

function isLine(value: Partial<Line>): value is Line {
  return typeof value.sku === 'string' && Number(value.quantity) > 0 && Number(value.unitPrice) >= 0;
}

export function createApp(): Express {
  const app = express();
  const orders = new Map<string, Order>();
  app.use(express.json());

  app.get('/health', (_req: Request, res: Response) => {
    res.json({ status: 'up' });
  });

  app.post('/orders', (req: Request, res: Response) => {
    const lines: Partial<Line>[] = req.body?.lines ?? [];
    if (lines.length === 0 || !lines.every(isLine)) {
      res.status(422).json({ error: 'an order needs valid lines' });
      return;
    }
    const order: Order = { id: randomUUID(), lines, total: total(lines), currency: config.currency };
    orders.set(order.id, order);
    res.status(201).json(order);
  });

  app.get('/orders/:id', (req: Request<{ id: string }>, res: Response) => {
    const order = orders.get(req.params.id);
    if (!order) {
      res.status(404).json({ error: 'order not found' });
      return;
    }
    res.json(order);
  });

  return app;
}
