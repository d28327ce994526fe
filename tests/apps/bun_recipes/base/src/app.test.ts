import { expect, test } from 'bun:test'

process.env.RECIPES_FILE = ':memory:'
const { default: app } = await import('./app')

test('a recipe needs a title', async () => {
  const answer = await app.request('/recipes', { method: 'POST', body: '{}' })
  expect(answer.status).toBe(400)
})

test('a recipe is kept', async () => {
  const made = await app.request('/recipes', { method: 'POST', body: '{"title": "soup", "ingredients": ["leek"]}' })
  const { id } = await made.json()
  const shown = await app.request(`/recipes/${id}`)
  expect(await shown.json()).toEqual({ id, title: 'soup', ingredients: ['leek'] })
})
