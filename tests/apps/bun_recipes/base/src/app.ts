import { Hono } from 'hono'

import { add, all, one } from './store'

const app = new Hono()

app.get('/', (c) => c.text('recipes'))

app.get('/recipes', (c) => c.json(all()))

app.post('/recipes', async (c) => {
  const { title, ingredients } = await c.req.json()
  if (!title) return c.json({ error: 'a recipe has a title' }, 400)
  return c.json(add(title, ingredients ?? []), 201)
})

app.get('/recipes/:id{[0-9]+}', (c) => {
  const recipe = one(Number(c.req.param('id')))
  return recipe ? c.json(recipe) : c.json({ error: 'no such recipe' }, 404)
})

export default app
