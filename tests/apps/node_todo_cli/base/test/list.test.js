import test from 'node:test';
import assert from 'node:assert';
import os from 'node:os';
import path from 'node:path';
import { add, read } from '../lib/list.js';

test('what is added is there', () => {
  process.env.TODO_FILE = path.join(os.tmpdir(), `todo-${process.pid}.txt`);
  assert.equal(add('milk'), 1);
  assert.deepEqual(read(), ['milk']);
});
