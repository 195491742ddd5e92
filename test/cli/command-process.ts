// Runs command lines one after the other, as its parent sends them; a process for each would take
// half a second.
import { writeSync } from 'node:fs'
import { run } from '../../server/cli/run.ts'

/** What ends the output of each. */
const END = '\0'

process.on('message', (args: string[]) => void perform(args))

async function perform(args: string[]): Promise<void> {
  const code = await run(args)
  for (const stream of [1, 2]) writeSync(stream, END)
  process.send?.(code)
}
