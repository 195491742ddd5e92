// tollmark jobs …
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { apiCommand, described, listed, openApi } from '../api-command.ts'
import type { Command } from '../command.ts'
import { write, type Column } from '../output.ts'
import { idOf } from './keys.ts'

const COLUMNS: readonly Column[] = [
  ['ID', (job) => job.text('id')],
  ['STATUS', (job) => job.text('status')],
  ['CREATED (UTC)', (job) => job.minute('created_at', '')],
  ['PAGES', (job) => `${job.row('progress').text('pages_done')}/${job.row('progress').optional('pages_total') ?? '?'}`],
  ['BYTES', (job) => job.row('file').text('size')],
  ['FILE', (job) => job.row('file').text('name')],
]

/** The commands about conversions in the background. */
export const JOBS: readonly Command[] = [
  apiCommand({
    name: 'jobs list',
    summary: 'list conversions in the background, newest first',
    notes: "They are the first account's on the local store, and the token's with --url.",
    examples: ['tollmark jobs list'],
    act: async ({ client }) => listed('jobs', await client.list('jobs'), COLUMNS),
  }),
  apiCommand({
    name: 'jobs show',
    args: '<id>',
    summary: 'show a job',
    examples: ['tollmark jobs show job_…'],
    act: async ({ client, args }) => described(await client.get(`jobs/${idOf(args)}`)),
  }),
  apiCommand({
    name: 'jobs cancel',
    args: '<id>',
    summary: 'cancel a job that is not finished, and delete its upload and its result',
    examples: ['tollmark jobs cancel job_…'],
    act: async ({ client, args }) => {
      await client.delete(`jobs/${idOf(args)}`)
      const job = await client.get(`jobs/${idOf(args)}`)
      return { record: job.json, lines: [`${job.text('id')} is ${job.text('status')}.`] }
    },
  }),
  resultCommand(),
]

function resultCommand(): Command {
  const { options } = apiCommand({ name: '', summary: '', examples: [], act: () => Promise.reject(new Error()) })
  return {
    name: 'jobs result',
    args: '<id>',
    summary: "write a job's document to standard output, or to a file",
    options: [{ flags: '-o, --output <path>', summary: 'the file' }, ...options],
    examples: ['tollmark jobs result job_… -o handbook.md'],
    run: async (values, args) => {
      await using api = await openApi(values, { makes: null, init: false })
      const { body } = await api.client.send('GET', `jobs/${idOf(args)}/result`)
      const output = values.text('output')
      if (output !== undefined) await pipeline(body ?? [], createWriteStream(output))
      else for await (const piece of body ?? []) await write(piece)
    },
  }
}
