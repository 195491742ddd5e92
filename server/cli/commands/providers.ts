// tollmark providers …
import { apiCommand, listResult } from '../api-command.ts'
import type { Command } from '../command.ts'
import type { Column } from '../output.ts'

const COLUMNS: readonly Column[] = [
  ['ID', (row) => row.text('id')],
  ['READY', (row) => (row.flag('ready') ? 'yes' : 'no')],
  ['NAME', (row) => row.text('name')],
]

/** The commands about providers. */
export const PROVIDERS: readonly Command[] = [
  apiCommand({
    name: 'providers list',
    summary: 'list providers, and whether each has a credential',
    examples: ['tollmark providers list'],
    act: async ({ client }) =>
      listResult('providers', (await client.get('providers')).rows('data'), COLUMNS),
  }),
]
