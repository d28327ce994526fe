const crypto = require('node:crypto');
const http = require('node:http');
const fs = require('node:fs');
const path = require('node:path');

const config = JSON.parse(fs.readFileSync(path.join(__dirname, 'config.json'), 'utf8'));

function send(res, status, body) {
  res.writeHead(status, { 'content-type': 'application/json' });
  res.end(JSON.stringify(body));
}

function bucket(user) {
  return crypto.createHash('sha256').update(user).digest().readUInt32BE(0) % 100;
}

function flag(res, name, searchParams) {
  const found = config.flags[name];
  if (!found) return send(res, 404, { error: `no flag ${name}` });
  const user = searchParams.get('user');
  if (found.percent === undefined) return send(res, 200, { name, enabled: found.enabled });
  if (!user) return send(res, 400, { error: 'user is required for a gradual flag' });
  send(res, 200, { name, user, enabled: found.enabled && bucket(user) < found.percent });
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
