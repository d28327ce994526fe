const test = require('node:test');
const assert = require('node:assert');
const { createApp } = require('../src/app');

test('products have a price to show', async (t) => {
  const server = createApp().listen(0);
  t.after(() => server.close());
  const res = await fetch(`http://127.0.0.1:${server.address().port}/v1/products/mug`);
  assert.equal((await res.json()).display, '€9.50');
});
