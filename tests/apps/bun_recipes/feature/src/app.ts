import { Hono } from 'hono'

import { add, all, containing, one } from './store'

const app = new Hono()

app.get('/', (c) => c.text('recipes'))

app.get('/recipes', (c) => c.json(all()))

app.get('/recipes/with/:ingredient', (c) => {
  const found = containing(c.req.param('ingredient'))
  return found.length ? c.json({ count: found.length, recipes: found }) : c.json({ error: 'nothing is made of it' }, 404)
})

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
