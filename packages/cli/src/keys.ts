import { parseArgs } from 'node:util'
import { provideAccount } from '../../../server/accounts/accounts.ts'
import { FREE } from '../../../server/accounts/plans.ts'
import { environment, readConfig } from '../../../server/config.ts'
import { Problem, SetupError } from '../../../server/errors.ts'
import { newId } from '../../../server/id.ts'
import { normalOrigin } from '../../../server/keys/authenticate.ts'
import { changeKey, createKey, listKeys, MOST_RPM, revokeKey, rotateKey } from '../../../server/keys/keys.ts'
import type { Key, NewKey } from '../../../server/keys/keys.ts'
import { scopeEntryProblem } from '../../../server/keys/scope.ts'
import { openStore } from '../../../server/store/open.ts'
import type { Store } from '../../../server/store/open.ts'
import type { Command } from './main.ts'

const USAGE = `usage: tollmark keys create --name NAME [--account ACCOUNT] [--models a,b*] [--rpm N] [--origins ORIGIN,…] [--expires DATE] [--json]
       tollmark keys list [--json]
       tollmark keys disable | enable | revoke ID [--json]
       tollmark keys rotate ID [--grace SECONDS] [--json]

Proxy keys open /proxy. "create" makes one for the first account, or for the account of that name, which is made if it does not
exist. The secret is shown once. "rotate" gives a new one; the old one goes on working for a day unless --grace says otherwise.`

/** More than anyone has; a list on a terminal is not paged. */
const ALL = 1_000_000
const DAY_S = 86_400

interface Context {
  store: Store
  now: number
}

/** TABLE of what can be done with keys; each gives the record for `--json` and the lines for a person. */
const ACTIONS: Readonly<Record<string, (context: Context, args: Parsed) => Promise<{ record: object; lines: string[] }>>> = {
  create: async ({ store, now }, { values }) => {
    if (!values.name) throw new SetupError('Give the key a name: --name NAME.')
    const wishes = {
      name: values.name,
      models: readList(values.models, (entry) => scopeEntryProblem(entry)),
      rpm: readNumber(values.rpm, '--rpm', 1, MOST_RPM),
      allowed_origins: readList(values.origins, (origin) => (normalOrigin(origin) === null ? `"${origin}" is no origin such as https://app.example.com.` : null)),
      expires_at: readDate(values.expires, now),
    }
    const account = await store.run(provideAccount, { name: values.account ?? null, plan: FREE, newId: newId('acc', now), now })
    const key = await createKey(store, account.id, wishes, now)
    return { record: key, lines: shownOnce(key) }
  },
  list: async ({ store, now }) => {
    const data = await listKeys(store, { account: null }, ALL, undefined, now)
    return { record: { object: 'list', data, next_cursor: null }, lines: data.length > 0 ? data.map(lineOf) : ['There are no keys yet.'] }
  },
  disable: async ({ store, now }, args) => changed(await changeKey(store, idOf(args), null, { disabled: true }, now)),
  enable: async ({ store, now }, args) => changed(await changeKey(store, idOf(args), null, { disabled: false }, now)),
  revoke: async ({ store, now }, args) => changed(await revokeKey(store, idOf(args), null, now)),
  rotate: async ({ store, now }, args) => {
    const grace = readNumber(args.values.grace, '--grace', 0, 30 * DAY_S) ?? DAY_S
    const key = await rotateKey(store, idOf(args), null, grace * 1000, now)
    return { record: key, lines: shownOnce(key) }
  },
}

const OPTIONS = {
  name: { type: 'string' },
  account: { type: 'string' },
  models: { type: 'string' },
  rpm: { type: 'string' },
  origins: { type: 'string' },
  expires: { type: 'string' },
  grace: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

const parse = (args: string[]) => parseArgs({ args, options: OPTIONS, allowPositionals: true })
type Parsed = ReturnType<typeof parse>

/** `tollmark keys …`, on the store of this folder's settings; a running server sees the change within a second. */
export const command: Command = {
  usage: USAGE,
  run: async (args) => {
    const parsed = parse(args)
    const [name = ''] = parsed.positionals
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined
    if (!action) throw new SetupError(`Say what to do with keys: ${Object.keys(ACTIONS).join(', ')}.`)
    const { storage } = readConfig(environment(process.cwd()))
    const now = Date.now()
    await using store = await openStore({ data: storage.data, databaseUrl: storage.databaseUrl, now })
    const { record, lines } = await action({ store, now }, parsed).catch(forPerson)
    process.stdout.write(`${parsed.values.json ? JSON.stringify(record, null, 2) : lines.join('\n')}\n`)
  },
}

/** A problem of the API is as clear on a terminal. */
function forPerson(error: unknown): never {
  throw error instanceof Problem ? new SetupError(error.detail.replace('GET /api/v1/keys', '"tollmark keys list"')) : error
}

function shownOnce({ secret, id, models, rpm }: NewKey): string[] {
  return [secret, '', `${id}, ${models === null ? 'every model' : models.join(', ')}, ${rpm === null ? 'no limit' : `${rpm} requests a minute`}. It is not shown again.`]
}

function changed(key: Key): { record: object; lines: string[] } {
  return { record: key, lines: [`${key.id} is ${key.status}.`] }
}

function lineOf({ id, name, prefix, models, rpm, status, last_used_at }: Key): string {
  return [id, status.padEnd(8), prefix, models?.join(',') ?? 'every model', rpm === null ? 'no limit' : `${rpm}/min`, last_used_at?.slice(0, 16) ?? 'never used', name].join('  ')
}

function idOf({ positionals: [action, id] }: Parsed): string {
  if (!id) throw new SetupError(`Say which key: tollmark keys ${action} ID. "tollmark keys list" shows the ids.`)
  return id
}

function readList(text: string | undefined, problemOf: (entry: string) => string | null): string[] | null {
  if (text === undefined) return null
  const entries = text.split(',').map((entry) => entry.trim())
  for (const entry of entries) {
    const problem = problemOf(entry)
    if (problem !== null) throw new SetupError(problem)
  }
  return entries
}

function readNumber(text: string | undefined, option: string, least: number, most: number): number | null {
  if (text === undefined) return null
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (!(number >= least && number <= most)) throw new SetupError(`${option} must be a whole number from ${least} to ${most}.`)
  return number
}

function readDate(text: string | undefined, now: number): number | null {
  if (text === undefined) return null
  const date = Date.parse(text)
  if (Number.isNaN(date)) throw new SetupError(`"${text}" is no date. Write it as 2027-01-31 or 2027-01-31T12:00:00Z.`)
  if (date <= now) throw new SetupError(`${text} lies in the past.`)
  return date
}
