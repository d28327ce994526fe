const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');

http
  .createServer((req, res) => {
    res.setHeader('content-type', 'text/html');
    fs.createReadStream(path.join(__dirname, 'index.html')).pipe(res);
  })
  .listen(process.env.PORT || 5173, () => console.log('web is up'));
