import test from 'node:test';
import assert from 'node:assert';
import { build } from '../app.js';

test('a quote is kept', async (t) => {
  const app = build();
  t.after(() => app.close());
  await app.inject({ method: 'POST', url: '/quotes', payload: { author: 'A', text: 'B' } });
  const res = await app.inject('/quotes/1');
  assert.equal(res.json().author, 'A');
});
