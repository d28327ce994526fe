const express = require('express');
const { format, products } = require('@shop/shared');

function createApp() {
  const app = express();
  app.use(express.json());

  app.get('/v1/health', (req, res) => res.json({ ok: true }));

  app.get('/v1/products', (req, res) => {
    res.json(products.map((one) => ({ ...one, display: format(one.cents) })));
  });

  app.get('/v1/products/:sku', (req, res) => {
    const found = products.find((one) => one.sku === req.params.sku);
    if (!found) return res.status(404).json({ error: 'unknown product' });
    res.json({ ...found, display: format(found.cents) });
  });

  app.use((req, res) => res.status(404).json({ error: 'not found' }));
  return app;
}

module.exports = { createApp };
