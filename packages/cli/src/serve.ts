import { parseArgs } from 'node:util'
import { buildWhereChanged } from '../../../dashboard/build.ts'
import { main } from '../../../server/main.ts'
import type { Command } from './main.ts'

/** `tollmark serve`: the server, set up by the environment. */
export const command: Command = {
  usage: `usage: tollmark serve [--role all|web|worker] [--json]

Runs the server. Settings come from the environment and from a .env file in this folder; .env.example lists them. A process with the role
"web" answers requests, one with "worker" runs the jobs that they make; "all" does both. The address, and the link to the first account, are said on standard error; with --json as one JSON
line each, {"url":…} and {"setup_url":…}. The log, on standard output, is JSON lines anyway.`,
  run: async (args) => {
    const { role, json } = parseArgs({ args, options: { role: { type: 'string' }, json: { type: 'boolean', default: false } } }).values
    // A process that only works shows no pages.
    const problem = role === 'worker' ? null : buildWhereChanged()
    if (problem !== null) process.stderr.write(`tollmark: ${problem}\n`)
    await main(role === undefined ? {} : { TOLLMARK_ROLE: role }, json)
  },
}
