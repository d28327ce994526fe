import fs from 'node:fs';

const file = () => process.env.TODO_FILE ?? 'todo.txt';

export function read() {
  if (!fs.existsSync(file())) return [];
  return fs.readFileSync(file(), 'utf8').split('\n').filter(Boolean);
}

export function write(lines) {
  fs.writeFileSync(file(), lines.map((line) => `${line}\n`).join(''));
}

export function add(text) {
  const lines = [...read(), text];
  write(lines);
  return lines.length;
}

export function done(number) {
  const lines = read();
  const [line] = lines.splice(number - 1, 1);
  if (line !== undefined) write(lines);
  return line;
}
