// tollmark usage
import { apiCommand, listResult, accountFilter, ACCOUNT_OPTION } from '../api-command.ts'
import type { Column } from '../output.ts'
import type { Row } from '../record.ts'
import { shownTokens } from '../../common/token-kinds.ts'

/** TABLE of the dimensions of usage and their columns. */
const BY: Readonly<Record<string, Column>> = {
  minute: ['MINUTE', (line) => line.minute('time', '')],
  hour: ['HOUR', (line) => line.minute('time', '')],
  day: ['DAY', (line) => line.text('time').slice(0, 10)],
  key: ['KEY', (line) => line.optional('key_name') ?? line.text('key_id')],
  provider: ['PROVIDER', (line) => line.text('provider')],
  model: ['MODEL', (line) => line.optional('model') ?? '-'],
}

const MEASURES: readonly Column[] = [
  ['REQUESTS', (line) => line.text('requests')],
  ['ERRORS', (line) => line.text('errors')],
]

const tokenColumns = (rows: readonly Row[]): Column[] =>
  shownTokens((column) => rows.some((row) => Number(row.optional(column)) > 0)).map(
    ([kind, column]) => [kind.toUpperCase(), (row) => row.optional(column) ?? '-'],
  )

/** Shows usage. */
export const USAGE = apiCommand({
  name: 'usage',
  summary: 'show usage by day, key, model or provider',
  options: [
    {
      flags: '--by <words>',
      summary: 'minute, hour, day (the default), key, model, provider, with commas',
    },
    {
      flags: '--from <when>',
      summary: 'a date (UTC), a time, or a duration ago such as 7d; default 30 days ago',
    },
    { flags: '--to <when>', summary: 'likewise; default now' },
    { flags: '--key <id>', summary: 'only for this key' },
    { flags: '--model <model>', summary: 'only for this model' },
    { flags: '--provider <id>', summary: 'only for this provider' },
    ACCOUNT_OPTION,
  ],
  examples: [
    'tollmark usage --from 7d',
    'tollmark usage --by key,model --from 2026-11-01 --to 2026-12-01',
  ],
  act: async ({ client, values, now }) => {
    const by = values.text('by') ?? 'day'
    const filter = {
      key: values.text('key'),
      model: values.text('model'),
      provider: values.text('provider'),
    }
    const [from, to] = [values.moment('from', now, -1), values.moment('to', now, -1)]
    const account = await accountFilter(client, values)
    const report = await client.get('usage', { ...filter, by, from, to, account })
    const columns = by
      .split(',')
      .map((word) => BY[word.trim()])
      .filter((column) => column !== undefined)
    const rows = report.rows('data')
    const { lines } = listResult('requests in that time', rows, [
      ...columns,
      ...MEASURES,
      ...tokenColumns(rows),
    ])
    return {
      record: report.json,
      lines: rows.length > 0 ? lines : ['There was no usage in that period.'],
    }
  },
})
