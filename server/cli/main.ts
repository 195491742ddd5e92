// The command line as a process.
import { EXIT } from './failure.ts'
import { run } from './run.ts'

// What a person is told is lost where standard error cannot be written; a server starts all the
// same.
process.stderr.on('error', () => {})
process.stdout.on('error', () => {})

const code = await run(process.argv.slice(2))
// A pipe that is still open would keep an interrupted command alive.
if (code > EXIT.misuse) process.exit(code)
process.exitCode = code
