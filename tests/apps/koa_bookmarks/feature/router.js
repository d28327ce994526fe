const Router = require('@koa/router');

const router = new Router();
const bookmarks = [];

router.get('/', (ctx) => {
  ctx.body = { service: 'bookmarks', count: bookmarks.length };
});

router.get('/bookmarks', (ctx) => {
  ctx.body = bookmarks;
});

router.post('/bookmarks', (ctx) => {
  const { url, tags = [] } = ctx.request.body;
  ctx.assert(url, 400, 'url is missing');
  const bookmark = { id: bookmarks.length + 1, url, tags };
  bookmarks.push(bookmark);
  ctx.status = 201;
  ctx.body = bookmark;
});

router.get('/tags', (ctx) => {
  const counts = {};
  for (const { tags } of bookmarks) {
    for (const tag of tags) counts[tag] = (counts[tag] ?? 0) + 1;
  }
  ctx.body = counts;
});

router.get('/tags/:tag', (ctx) => {
  const found = bookmarks.filter(({ tags }) => tags.includes(ctx.params.tag));
  ctx.assert(found.length, 404, 'no bookmark has this tag');
  ctx.body = { tag: ctx.params.tag, bookmarks: found };
});

module.exports = router;
