// tollmark jobs …
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import {
  apiCommand,
  recordResult,
  listResult,
  accountFilter,
  ACCOUNT_OPTION,
  openApi,
} from '../api-command.ts'
import type { Command } from '../command.ts'
import { write, type Column } from '../output.ts'
import { encodeId } from './keys.ts'

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
    options: [ACCOUNT_OPTION],
    examples: ['tollmark jobs list', 'tollmark jobs list --account acme'],
    act: async ({ client, values }) =>
      listResult(
        'jobs',
        await client.list('jobs', { account: await accountFilter(client, values) }),
        COLUMNS,
      ),
  }),
  apiCommand({
    name: 'jobs show',
    args: '<id>',
    summary: 'show a job',
    examples: ['tollmark jobs show job_…'],
    act: async ({ client, args }) =>
      recordResult(
        await client.acrossAccounts((query) => client.get(`jobs/${encodeId(args)}`, query)),
      ),
  }),
  apiCommand({
    name: 'jobs cancel',
    args: '<id>',
    summary: 'cancel a job that is not finished, and delete its upload and its result',
    examples: ['tollmark jobs cancel job_…'],
    act: async ({ client, args }) => {
      const path = `jobs/${encodeId(args)}` as const
      await client.acrossAccounts((query) => client.delete(path, query))
      const job = await client.acrossAccounts((query) => client.get(path, query))
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
      await using api = await openApi(values, { creates: null, init: false })
      const { body } = await api.client.acrossAccounts((query) =>
        api.client.send('GET', `jobs/${encodeId(args)}/result`, query),
      )
      const output = values.text('output')
      if (output !== undefined) await pipeline(body ?? [], createWriteStream(output))
      else for await (const piece of body ?? []) await write(piece)
    },
  }
}
