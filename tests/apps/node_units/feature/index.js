'use strict';

const FACTORS = { B: 1, kB: 1e3, MB: 1e6, GB: 1e9, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

/** The number of bytes in a text such as "1.5 kB". */
function parse(text) {
  const found = /^\s*([0-9.]+)\s*([A-Za-z]+)\s*$/.exec(text);
  if (!found || !(found[2] in FACTORS)) throw new SyntaxError(`not a size: ${text}`);
  return Math.round(Number(found[1]) * FACTORS[found[2]]);
}

/** A number of bytes as people read it. */
function format(bytes, { binary = false } = {}) {
  if (!Number.isFinite(bytes) || bytes < 0) throw new RangeError(`not a number of bytes: ${bytes}`);
  const [step, units] = binary ? [1024, ['B', 'KiB', 'MiB', 'GiB']] : [1000, ['B', 'kB', 'MB', 'GB']];
  let at = 0;
  while (bytes >= step && at < units.length - 1) {
    bytes /= step;
    at += 1;
  }
  return `${Number(bytes.toFixed(1))} ${units[at]}`;
}

module.exports = { format, parse };
