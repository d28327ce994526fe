// Asks jest, also in react-scripts, vitest and mocha, where one of them is the program, to also write down which tests ran.
'use strict'

const fs = require('node:fs')
const path = require('node:path')

const place = (name) => path.join(__dirname, `${name}-${process.pid}.json`)
const isTold = () => process.env.CI || process.argv.some((word) => word.startsWith('--watch'))
const once = () => (isTold() ? [] : ['--watchAll=false'])
const options = {
  jest: (file) => ['--json', `--outputFile=${file}`],
  react: (file) => (process.argv.includes('test') ? [...options.jest(file), ...once()] : []),
  vitest: (file) => ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`],
  mocha: (file) => ['--reporter=json', `--reporter-option=output=${file}`],
}
const programs = [
  [/\/jest(-cli)?\/bin\/jest\.js$/, 'jest'],
  [/\/(react-scripts\/bin\/react-scripts|craco\/(dist\/)?bin\/craco|react-app-rewired\/bin\/index)\.js$/, 'react'],
  [/\/react-scripts\/scripts\/test\.js$/, 'jest'],
  [/\/vitest\/(vitest|dist\/cli)\.m?js$/, 'vitest'],
  [/\/mocha\/(bin\/_?mocha(\.js)?|lib\/cli\/cli\.js)$/, 'mocha'],
]

function main() {
  try {
    return fs.realpathSync(process.argv[1] || '')
  } catch {
    return ''
  }
}

const started = main()
for (const [pattern, runner] of programs) {
  if (pattern.test(started)) {
    process.argv.push(...options[runner](place(runner)))
    break
  }
}
