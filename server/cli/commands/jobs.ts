// tollmark jobs …
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import {
  apiCommand,
  described,
  listed,
  listedAccount,
  OF_ACCOUNT,
  openApi,
} from '../api-command.ts'
import type { Command } from '../command.ts'
import { write, type Column } from '../output.ts'
import { idOf } from './keys.ts'

const COLUMNS: readonly Column[] = [
  ['ID', (job) => job.text('id')],
  ['STATUS', (job) => job.text('status')],
  ['CREATED (UTC)', (job) => job.minute('created_at', '')],
  [
    'PAGES',
    (job) =>
      `${job.row('progress').text('pages_done')}/${job.row('progress').optional('pages_total') ?? '?'}`,
  ],
  ['BYTES', (job) => job.row('file').text('size')],
  ['FILE', (job) => job.row('file').text('name')],
]

/** The commands about conversions in the background. */
export const JOBS: readonly Command[] = [
  apiCommand({
    name: 'jobs list',
    summary: 'list conversions in the background, newest first',
    options: [OF_ACCOUNT],
    examples: ['tollmark jobs list', 'tollmark jobs list --account acme'],
    act: async ({ client, values }) =>
      listed(
        'jobs',
        await client.list('jobs', { account: await listedAccount(client, values) }),
        COLUMNS,
      ),
  }),
  apiCommand({
    name: 'jobs show',
    args: '<id>',
    summary: 'show a job',
    examples: ['tollmark jobs show job_…'],
    act: async ({ client, args }) =>
      described(await client.ofAny((query) => client.get(`jobs/${idOf(args)}`, query))),
  }),
  apiCommand({
    name: 'jobs cancel',
    args: '<id>',
    summary: 'cancel a job that is not finished, and delete its upload and its result',
    examples: ['tollmark jobs cancel job_…'],
    act: async ({ client, args }) => {
      const path = `jobs/${idOf(args)}`
      await client.ofAny((query) => client.delete(path, query))
      const job = await client.ofAny((query) => client.get(path, query))
      return { record: job.json, lines: [`${job.text('id')} is ${job.text('status')}.`] }
    },
  }),
  resultCommand(),
]

function resultCommand(): Command {
  const { options } = apiCommand({
    name: '',
    summary: '',
    examples: [],
    act: () => Promise.reject(new Error()),
  })
  return {
    name: 'jobs result',
    args: '<id>',
    summary: "write a job's document to standard output, or to a file",
    options: [{ flags: '-o, --output <path>', summary: 'the file' }, ...options],
    examples: ['tollmark jobs result job_… -o handbook.md'],
    run: async (values, args) => {
      await using api = await openApi(values, { makes: null, init: false })
      const { body } = await api.client.ofAny((query) =>
        api.client.send('GET', `jobs/${idOf(args)}/result`, query),
      )
      const output = values.text('output')
      if (output !== undefined) await pipeline(body ?? [], createWriteStream(output))
      else for await (const piece of body ?? []) await write(piece)
    },
  }
}
