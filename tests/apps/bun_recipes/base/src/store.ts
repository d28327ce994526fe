import { Database } from 'bun:sqlite'

export type Recipe = { id: number; title: string; ingredients: string[] }
type Row = { id: number; title: string; ingredients: string }

const database = new Database(process.env.RECIPES_FILE ?? 'recipes.sqlite', { create: true })
database.run('create table if not exists recipe (id integer primary key, title text not null, ingredients text not null)')

const read = (row: Row): Recipe => ({ ...row, ingredients: JSON.parse(row.ingredients) })

export const all = (): Recipe[] => database.query<Row, []>('select * from recipe order by id').all().map(read)

export const one = (id: number): Recipe | undefined => all().find((recipe) => recipe.id === id)

export const add = (title: string, ingredients: string[]): Recipe => {
  const insert = database.query<Row, [string, string]>('insert into recipe (title, ingredients) values (?, ?) returning *')
  return read(insert.get(title, JSON.stringify(ingredients))!)
}
