const quote = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    author: { type: 'string' },
    text: { type: 'string' },
    likes: { type: 'integer' },
  },
};

export default async function quotes(app) {
  const store = [];

  app.get('/', { schema: { response: { 200: { type: 'array', items: quote } } } }, async () => store);

  app.post(
    '/',
    {
      schema: {
        body: {
          type: 'object',
          required: ['author', 'text'],
          properties: { author: { type: 'string', minLength: 1 }, text: { type: 'string', minLength: 1 } },
        },
        response: { 201: quote },
      },
    },
    async (request, reply) => {
      const made = { id: store.length + 1, ...request.body, likes: 0 };
      store.push(made);
      return reply.code(201).send(made);
    },
  );

  app.get('/:id', async (request, reply) => {
    const found = store.find((one) => one.id === Number(request.params.id));
    return found ?? reply.code(404).send({ error: 'no such quote' });
  });

  app.post('/:id/like', { schema: { response: { 200: quote } } }, async (request, reply) => {
    const found = store.find((one) => one.id === Number(request.params.id));
    if (!found) return reply.code(404).send({ error: 'no such quote' });
    found.likes += 1;
    return found;
  });
}
