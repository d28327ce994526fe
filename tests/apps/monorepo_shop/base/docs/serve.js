require('node:http')
  .createServer((req, res) => res.end('documentation'))
  .listen(process.env.PORT || 8000);
