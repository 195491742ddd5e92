// tollmark requests …
import {
  apiCommand,
  recordResult,
  listResult,
  accountFilter,
  ACCOUNT_OPTION,
  openApi,
  type CommandResult,
} from '../api-command.ts'
import type { ApiClient } from '../client.ts'
import type { Command, Option } from '../command.ts'
import { untilInterrupted, type Interrupted } from '../interrupt.ts'
import { printNotes, write, type Column } from '../output.ts'
import type { Row } from '../record.ts'
import { encodeId } from './keys.ts'
import type { OptionValues } from '../values.ts'

const COLUMNS: readonly Column[] = [
  ['ID', (row) => row.text('id')],
  ['TIME (UTC)', (row) => row.text('created_at').slice(0, 19).replace('T', ' ')],
  ['OUTCOME', (row) => row.text('outcome')],
  ['STATUS', (row) => row.optional('status') ?? '-'],
  ['ERROR', (row) => row.optional('error') ?? '-'],
  ['MS', (row) => row.optional('total_ms') ?? '-'],
  ['TOKENS', (row) => `${row.optional('tokens_in') ?? '-'}/${row.optional('tokens_out') ?? '-'}`],
  ['MODEL', (row) => row.optional('model') ?? '-'],
  ['KEY', (row) => row.optional('key_name') ?? row.text('key_id')],
]

const REFUSED_COLUMNS: readonly Column[] = [
  ['ID', (row) => row.text('id')],
  ['TIME (UTC)', (row) => row.text('created_at').slice(0, 19).replace('T', ' ')],
  ['STATUS', (row) => row.text('status')],
  ['CODE', (row) => row.text('code')],
  ['COUNT', (row) => row.text('count')],
  ['MODEL', (row) => row.optional('model') ?? '-'],
  ['KEY', (row) => row.optional('key_name') ?? row.text('key_id')],
]

/** How often a long search says how far back it is (milliseconds). */
const REPORT_MS = 5_000

const LIMIT_OPTION: Option = {
  flags: '--limit <number>',
  summary: 'maximum number of rows; default 50',
}

const FILTER: readonly Option[] = [
  { flags: '--key <id>', summary: 'only for this key' },
  { flags: '--child <id>', summary: 'only for this child key' },
  { flags: '--end-user <name>', summary: 'only for child keys of this end user' },
  { flags: '--model <model>', summary: 'only for this model' },
  { flags: '--provider <id>', summary: 'only for this provider' },
  {
    flags: '--state <state>',
    summary: 'only requests in this state',
    choices: ['reserved', 'settled', 'aborted', 'unknown'],
  },
  { flags: '--status <status>', summary: 'a status such as 429, or a class such as 4xx' },
  { flags: '--from <when>', summary: 'a date (UTC), a time, or a duration ago such as 1h' },
  { flags: '--to <when>', summary: 'likewise' },
  ACCOUNT_OPTION,
]

function filterOf(values: OptionValues, now: number): Record<string, string | undefined> {
  const plain = ['key', 'child', 'model', 'provider', 'state', 'status'].map((name) => [
    name,
    values.text(name),
  ])
  const [from, to] = [values.moment('from', now, -1), values.moment('to', now, -1)]
  return { ...Object.fromEntries(plain), end_user: values.text('end-user'), from, to }
}

/** The commands about proxied requests. */
export const REQUESTS: readonly Command[] = [
  apiCommand({
    name: 'requests list',
    summary: 'list proxied requests, newest first',
    options: [
      ...FILTER,
      LIMIT_OPTION,
      { flags: '--cursor <cursor>', summary: 'continue where an earlier list ended' },
    ],
    notes:
      'A search of a large ledger for something rare says how far back it has searched. Ctrl+C ends it: it prints what\n' +
      'was found, and the cursor to continue with (with --json: searched_to and next_cursor).',
    examples: [
      'tollmark requests list --status 4xx --from 1h',
      'tollmark requests list --key key_… --limit 10',
    ],
    act: async ({ client, values, now }) => {
      const most = values.number('limit', 1, 1_000_000) ?? 50
      const filter = {
        ...filterOf(values, now),
        cursor: values.text('cursor'),
        account: await accountFilter(client, values),
      }
      return searchResult(await searchBack(client, filter, most, values.flag('json')))
    },
  }),
  apiCommand({
    name: 'requests show',
    args: '<id>',
    summary: 'show one request; its id is the X-Proxy-Request-Id of the response',
    examples: ['tollmark requests show req_…'],
    act: async ({ client, args }) =>
      recordResult(
        await client.acrossAccounts((query) => client.get(`requests/${encodeId(args)}`, query)),
      ),
  }),
  apiCommand({
    name: 'requests refused',
    summary: 'list requests that the proxy refused, newest first; no provider saw them',
    options: [
      { flags: '--key <id>', summary: 'only for this key' },
      { flags: '--code <code>', summary: 'only for this reason, such as rate_limit_exceeded' },
      { flags: '--from <when>', summary: 'a date (UTC), a time, or a duration ago such as 1h' },
      { flags: '--to <when>', summary: 'likewise' },
      ACCOUNT_OPTION,
      LIMIT_OPTION,
    ],
    notes:
      'If many requests are refused, only some are kept; COUNT says how many each one represents.',
    examples: ['tollmark requests refused --from 1h', 'tollmark requests refused --key key_…'],
    act: async ({ client, values, now }) => {
      const query = {
        key: values.text('key'),
        code: values.text('code'),
        from: values.moment('from', now, -1),
        to: values.moment('to', now, -1),
        account: await accountFilter(client, values),
      }
      const most = values.number('limit', 1, 1_000_000) ?? 50
      return listResult('refusals', await client.list('refusals', query, most), REFUSED_COLUMNS)
    },
  }),
  exportCommand(),
]

/** What a search has found. */
interface Found {
  readonly rows: Row[]
  /** Where to continue; null if everything was searched. */
  readonly next: string | null
  /** How far back it was searched; null if it ended at the last of `rows`. */
  readonly searchedTo: string | null
  readonly interrupted: Interrupted | null
}

/** Searches page by page, and reports how far back it is. A signal ends it with what was found. */
async function searchBack(
  client: ApiClient,
  filter: Readonly<Record<string, string | undefined>>,
  limit: number,
  quiet: boolean,
): Promise<Found> {
  const rows: Row[] = []
  let last: Row | undefined
  let reported = -Infinity
  const interrupted = await untilInterrupted(async (isAwaited) => {
    for await (const page of client.pages('requests', filter, limit)) {
      if (!isAwaited()) return
      rows.push(...page.rows('data'))
      last = page
      const searchedTo = page.optional('searched_to')
      if (searchedTo === null || quiet || performance.now() - reported < REPORT_MS) continue
      reported = performance.now()
      printNotes([`Searched back to ${toSecond(searchedTo)}. Ctrl+C ends the search.`])
    }
  })
  if (interrupted !== null && last === undefined) throw interrupted
  const [next = null, searchedTo = null] = [
    last?.optional('next_cursor'),
    last?.optional('searched_to'),
  ]
  return { rows, next, searchedTo, interrupted }
}

function searchResult({ rows, next, searchedTo, interrupted }: Found): CommandResult {
  const { record, lines } = listResult('requests', rows, COLUMNS)
  const back = searchedTo === null ? '' : `Searched back to ${toSecond(searchedTo)}. `
  const isIncomplete = interrupted !== null && next !== null
  return {
    record: { ...record, next_cursor: next, searched_to: searchedTo },
    lines: isIncomplete && rows.length === 0 ? ['No requests found so far.'] : lines,
    notes: isIncomplete ? [`${back}To continue, add --cursor ${next}`] : [],
    interrupted,
  }
}

/** A timestamp to the second. */
const toSecond = (time: string): string => `${time.slice(0, 19).replace('T', ' ')} UTC`

/** Streams the lines: there may be millions. */
function exportCommand(): Command {
  const { options } = apiCommand({
    name: '',
    summary: '',
    options: FILTER,
    examples: [],
    act: () => Promise.reject(new Error()),
  })
  return {
    name: 'requests export',
    summary: 'write all matching requests as CSV, newest first',
    options,
    examples: ['tollmark requests export --from 2026-11-01 --to 2026-12-01 > november.csv'],
    run: async (values) => {
      await using api = await openApi(values, { creates: null, init: false })
      const account = await accountFilter(api.client, values)
      const query = { ...filterOf(values, Date.now()), account, format: 'csv' }
      const { body } = await api.client.send('GET', 'requests', query)
      for await (const piece of body ?? []) await write(piece)
    },
  }
}
