const test = require('node:test');
const assert = require('node:assert');
const { parse } = require('..');

test('parses kilobytes', () => assert.equal(parse('1.5 kB'), 1500));
test('refuses nonsense', () => assert.throws(() => parse('many'), SyntaxError));
