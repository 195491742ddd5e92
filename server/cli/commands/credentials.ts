// tollmark credentials …
import { readFileSync } from 'node:fs'
import { apiCommand, recordResult, listResult } from '../api-command.ts'
import type { Command } from '../command.ts'
import { Misuse } from '../failure.ts'
import type { Column } from '../output.ts'
import { encodeId } from './keys.ts'
import type { OptionValues } from '../values.ts'

const COLUMNS: readonly Column[] = [
  ['ID', (row) => row.text('id')],
  ['PROVIDER', (row) => row.text('provider')],
  ['STATUS', (row) => (row.flag('readable') ? row.text('status') : 'unreadable')],
  ['SOURCE', (row) => row.text('source')],
  ['WEIGHT', (row) => row.text('weight')],
  ['LAST ERROR', (row) => row.row('last_error').optional('status') ?? '-'],
  ['NAME', (row) => row.text('name')],
]

/** The commands about provider credentials. */
export const CREDENTIALS: readonly Command[] = [
  apiCommand({
    name: 'credentials list',
    summary: 'list provider credentials, without their secrets',
    examples: ['tollmark credentials list'],
    act: async ({ client }) =>
      listResult('credentials', (await client.get('credentials')).rows('data'), COLUMNS),
  }),
  apiCommand({
    name: 'credentials add',
    args: '<provider>',
    summary: 'store a provider credential, read from standard input',
    notes: 'The secret cannot be an argument, because other users of the machine could see it.',
    creates: true,
    options: [
      { flags: '--name <name>', summary: 'its name' },
      {
        flags: '--weight <number>',
        summary: 'its share of the requests to the provider; default 1',
      },
      {
        flags: '--values <name=value,…>',
        summary: "parts of its host: Azure's resource, Bedrock's region",
      },
    ],
    examples: [
      'tollmark credentials add openai < key.txt',
      'printenv AZURE_KEY | tollmark credentials add azure --values resource=acme',
    ],
    act: async ({ client, values, args }) => {
      const [provider] = args
      const [name, weight] = [values.text('name'), values.number('weight', 0, 1000)]
      const fields = { provider, secret: readSecret(), name, weight, values: parsePairs(values) }
      const row = await client.post('credentials', fields)
      return { record: row.json, lines: [`${row.text('id')}: stored for ${row.text('provider')}.`] }
    },
  }),
  ...(['pause', 'resume'] as const).map((word) =>
    apiCommand({
      name: `credentials ${word}`,
      args: '<id>',
      summary:
        word === 'pause'
          ? 'pause a credential until it is resumed'
          : 'use a paused credential again',
      examples: [`tollmark credentials ${word} cred_…`],
      act: async ({ client, args }) => {
        const row = await client.patch(`credentials/${encodeId(args)}`, {
          status: word === 'pause' ? 'paused' : 'active',
        })
        return { record: row.json, lines: [`${row.text('id')} is ${row.text('status')}.`] }
      },
    }),
  ),
  apiCommand({
    name: 'credentials test',
    args: '<id>',
    summary: 'test a credential with one cheap call; needs --url',
    examples: ['tollmark credentials test cred_… --url http://localhost:8484'],
    act: async ({ client, args }) => {
      if (client.isLocal) throw new Misuse('Only a running server can make the call: give --url.')
      return recordResult(await client.post(`credentials/${encodeId(args)}/test`))
    },
  }),
  apiCommand({
    name: 'credentials remove',
    args: '<id>',
    summary: 'delete a stored credential permanently',
    examples: ['tollmark credentials remove cred_…'],
    act: async ({ client, args }) => {
      await client.delete(`credentials/${encodeId(args)}`)
      return { record: { id: args[0], deleted: true }, lines: [`${args[0]} is deleted.`] }
    },
  }),
]

function readSecret(): string {
  if (process.stdin.isTTY)
    process.stderr.write('Paste the secret, then press Ctrl-D on a line of its own:\n')
  const secret = readFileSync(0, 'utf8').trim()
  if (secret === '')
    throw new Misuse('Give the secret on standard input: tollmark credentials add PROVIDER < FILE.')
  return secret
}

/** `name=value` pairs, separated by commas. */
function parsePairs(values: OptionValues): Record<string, string> | undefined {
  const entries = values.list('values')?.map((pair) => pair.split('=', 2))
  const wrong = entries?.find(([name, value]) => !name || !value)
  if (wrong) throw new Misuse('--values must be pairs such as resource=acme, separated by commas.')
  return entries && Object.fromEntries(entries)
}
