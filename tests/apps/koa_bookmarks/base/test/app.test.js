const test = require('node:test');
const assert = require('node:assert');
const app = require('../index');

test('tells who it is', async (t) => {
  const server = app.listen(0);
  t.after(() => server.close());
  const res = await fetch(`http://127.0.0.1:${server.address().port}/`);
  assert.equal((await res.json()).service, 'bookmarks');
});
