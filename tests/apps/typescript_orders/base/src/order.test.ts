import assert from 'node:assert';
import test from 'node:test';
import { total } from './order';

test('a total is rounded to cents', () => {
  assert.equal(total([{ sku: 'a', quantity: 3, unitPrice: 0.1 }]), 0.3);
});
