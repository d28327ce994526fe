const http = require('node:http');

http
  .createServer((req, res) => {
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify({ paid: true }));
  })
  .listen(process.env.PORT || 9090);
