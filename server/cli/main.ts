// The command line as a process.
import { limitThreadHeaps } from '../common/thread-heaps.ts'

// First, so that everything that is loaded from here on is loaded faster.
limitThreadHeaps()

// A broken standard error must not stop a server.
process.stderr.on('error', () => {})
process.stdout.on('error', () => {})

const { run } = await import('./run.ts')
const { EXIT } = await import('./failure.ts')
const code = await run(process.argv.slice(2))
// An open pipe would keep an interrupted command alive.
if (code > EXIT.misuse) process.exit(code)
process.exitCode = code
