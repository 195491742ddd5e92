// `npm run bench -- NAME [ARG …]`: runs a program beside this file. Without a name, lists them.
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'

const names = globSync('*.ts', { cwd: import.meta.dirname, exclude: ['run.ts'] })
  .map((file) => basename(file, '.ts'))
  .sort()
const list = `usage: npm run bench -- NAME [ARG …]\n${names.map((name) => `  ${name}`).join('\n')}`
const [name, ...args] = process.argv.slice(2)
if (name === undefined) console.log(list)
else if (names.includes(name)) {
  const child = spawn(
    process.execPath,
    [...process.execArgv, join(import.meta.dirname, `${name}.ts`), ...args],
    { stdio: 'inherit' },
  )
  child.on('exit', (code) => process.exit(code ?? 1))
} else {
  console.error(`there is no bench ${name}\n${list}`)
  process.exitCode = 2
}
