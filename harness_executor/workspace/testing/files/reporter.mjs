// Writes down, one line each, which tests of `node --test` ran and how they ended.
const outcome = (type, data) =>
  data.skip !== undefined || data.todo !== undefined ? 'skipped' : type === 'test:pass' ? 'passed' : 'failed'

export default async function* report(source) {
  const above = []
  for await (const { type, data } of source) {
    if (type === 'test:start') {
      above[data.nesting] = data.name
      above.length = data.nesting + 1
    }
    const ended = type === 'test:pass' || type === 'test:fail'
    if (ended) {
      const names = [...above.slice(0, data.nesting), data.name]
      const suite = data.details?.type === 'suite'
      yield JSON.stringify({ file: data.file, names, suite, outcome: outcome(type, data) }) + '\n'
    }
  }
}
