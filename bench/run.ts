// `npm run bench -- NAME [ARG …]`: one of the programs beside this file. Without a name, what there is.
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'

const names = globSync('*.ts', { cwd: import.meta.dirname })
  .map((file) => basename(file, '.ts'))
  .filter((name) => !['run', 'shapes'].includes(name))
  .sort()
const [name, ...args] = process.argv.slice(2)
if (name === undefined || !names.includes(name)) {
  console.error(`usage: npm run bench -- ${names.join('|')} [ARG …]`)
  process.exit(2)
}
const child = spawn(process.execPath, [...process.execArgv, join(import.meta.dirname, `${name}.ts`), ...args], { stdio: 'inherit' })
child.on('exit', (code) => process.exit(code ?? 1))
