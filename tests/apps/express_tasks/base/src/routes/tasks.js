const { Router } = require('express');

module.exports = function tasks() {
  const router = Router();
  const items = new Map();
  let nextId = 1;

  router.param('id', (req, res, next, id) => {
    req.task = items.get(Number(id));
    if (!req.task) return res.status(404).json({ error: 'Task not found' });
    next();
  });

  router.get('/', (req, res) => {
    res.json([...items.values()]);
  });

  router.post('/', (req, res) => {
    const { title } = req.body ?? {};
    if (typeof title !== 'string' || !title.trim()) {
      return res.status(400).json({ error: 'title is required' });
    }
    const task = { id: nextId++, title: title.trim(), done: false };
    items.set(task.id, task);
    res.status(201).location(`/api/tasks/${task.id}`).json(task);
  });

  router.get('/:id', (req, res) => res.json(req.task));

  router.patch('/:id', (req, res) => {
    if ('done' in req.body) req.task.done = Boolean(req.body.done);
    if ('title' in req.body) req.task.title = String(req.body.title);
    res.json(req.task);
  });

  return router;
};
