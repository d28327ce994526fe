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

module.exports = router;
