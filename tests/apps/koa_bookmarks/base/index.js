const Koa = require('koa');
const bodyParser = require('koa-bodyparser');
const router = require('./router');

const app = new Koa();

app.use(async (ctx, next) => {
  try {
    await next();
    if (ctx.status === 404 && ctx.body === undefined) {
      ctx.status = 404;
      ctx.body = { message: 'nothing here' };
    }
  } catch (err) {
    ctx.status = err.status || 500;
    ctx.body = { message: err.expose ? err.message : 'internal error' };
  }
});
app.use(bodyParser());
app.use(router.routes());
app.use(router.allowedMethods());

if (require.main === module) {
  const port = process.env.PORT || 5000;
  app.listen(port);
  console.log(`bookmarks on :${port}`);
}

module.exports = app;
