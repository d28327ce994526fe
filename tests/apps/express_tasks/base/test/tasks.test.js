const test = require('node:test');
const assert = require('node:assert');
const request = require('supertest');
const { createApp } = require('../src/app');

test('creates a task', async () => {
  const res = await request(createApp()).post('/api/tasks').send({ title: 'write tests' });
  assert.equal(res.status, 201);
  assert.equal(res.body.done, false);
});

test('refuses a task without a title', async () => {
  const res = await request(createApp()).post('/api/tasks').send({});
  assert.equal(res.status, 400);
});
