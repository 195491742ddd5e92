// The command line as a process.
import { EXIT } from './failure.ts'
import { run } from './run.ts'

// A broken standard error must not stop a server.
process.stderr.on('error', () => {})
process.stdout.on('error', () => {})

const code = await run(process.argv.slice(2))
// An open pipe would keep an interrupted command alive.
if (code > EXIT.misuse) process.exit(code)
process.exitCode = code
