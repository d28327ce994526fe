const http = require('node:http');
const fs = require('node:fs');
const path = require('node:path');

const config = JSON.parse(fs.readFileSync(path.join(__dirname, 'config.json'), 'utf8'));

function send(res, status, body) {
  res.writeHead(status, { 'content-type': 'application/json' });
  res.end(JSON.stringify(body));
}

function flag(res, name) {
  const found = config.flags[name];
  if (!found) return send(res, 404, { error: `no flag ${name}` });
  send(res, 200, { name, enabled: found.enabled });
}

const server = http.createServer((req, res) => {
  const { pathname, searchParams } = new URL(req.url, 'http://localhost');
  const parts = pathname.split('/').filter(Boolean);
  if (pathname === '/flags') return send(res, 200, Object.keys(config.flags));
  if (parts[0] === 'flags' && parts.length === 2) return flag(res, parts[1], searchParams);
  send(res, 404, { error: 'not found' });
});

server.listen(config.server.port, config.server.host, () => {
  console.log(`flags on http://${config.server.host}:${config.server.port}`);
});
