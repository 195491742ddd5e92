import { parseArgs } from 'node:util'
import { FREE, readPlans } from '../../../server/accounts/plans.ts'
import { SCOPES, createToken, listTokens, revokeToken } from '../../../server/accounts/tokens.ts'
import type { Scope, Token } from '../../../server/accounts/tokens.ts'
import { environment, readConfig } from '../../../server/config.ts'
import type { Config } from '../../../server/config.ts'
import { Problem, SetupError } from '../../../server/errors.ts'
import { openStore } from '../../../server/store/open.ts'
import type { Store } from '../../../server/store/open.ts'
import type { Command } from './main.ts'

const USAGE = `usage: tollmark tokens create --name NAME [--account ACCOUNT] [--plan PLAN] [--scopes convert,manage] [--expires DATE] [--json]
       tollmark tokens list [--json]
       tollmark tokens revoke ID [--json]

API tokens open the conversion and the management API. "create" makes one for the first account, or for the account of that
name, which is made with that plan if it does not exist. The token is shown once.`

/** More than anyone has; a list on a terminal is not paged. */
const ALL = 100_000

interface Context {
  store: Store
  config: Config
  now: number
}

/** TABLE of what can be done with tokens; each gives the record for `--json` and the lines for a person. */
const ACTIONS: Readonly<Record<string, (context: Context, args: Parsed) => Promise<{ record: object; lines: string[] }>>> = {
  create: async ({ store, config, now }, { values }) => {
    const plans = readPlans(config.accounts)
    const plan = values.plan ?? FREE
    if (!values.name) throw new SetupError('Give the token a name: --name NAME.')
    if (!plans.has(plan)) throw new SetupError(`There is no plan "${plan}". The plans are ${plans.all.map(({ name }) => name).join(', ')}; TOLLMARK_PLANS adds others.`)
    const wanted = { name: values.name, scopes: readScopes(values.scopes), expiresAt: readDate(values.expires, now) }
    const { token, account } = await createToken(store, { name: values.account ?? null, plan }, wanted, now)
    if (values.plan !== undefined && account.plan !== plan) {
      process.stderr.write(`tollmark: the account "${account.name}" exists and stays on its plan "${account.plan}".\n`)
    }
    return { record: token, lines: [token.secret, '', `${token.id}, account "${account.name}", ${token.scopes.join(', ')}. It is not shown again.`] }
  },
  list: async ({ store, now }) => {
    const data = await listTokens(store, null, ALL, undefined, now)
    return { record: { object: 'list', data, next_cursor: null }, lines: data.length > 0 ? data.map(lineOf) : ['There are no tokens yet.'] }
  },
  revoke: async ({ store, now }, { positionals: [, id] }) => {
    if (!id) throw new SetupError('Say which token: tollmark tokens revoke ID. "tollmark tokens list" shows the ids.')
    const token = await revokeToken(store, id, null, now)
    return { record: token, lines: [`${token.id} is revoked.`] }
  },
}

const OPTIONS = {
  name: { type: 'string' },
  account: { type: 'string' },
  plan: { type: 'string' },
  scopes: { type: 'string' },
  expires: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

const parse = (args: string[]) => parseArgs({ args, options: OPTIONS, allowPositionals: true })
type Parsed = ReturnType<typeof parse>

/** `tollmark tokens …`, on the store of this folder's settings, whether a server runs on it or not. */
export const command: Command = {
  usage: USAGE,
  run: async (args) => {
    const parsed = parse(args)
    const [name = ''] = parsed.positionals
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined
    if (!action) throw new SetupError(`Say what to do with tokens: ${Object.keys(ACTIONS).join(', ')}.`)
    const config = readConfig(environment(process.cwd()))
    const now = Date.now()
    await using store = await openStore({ data: config.storage.data, databaseUrl: config.storage.databaseUrl, now })
    const { record, lines } = await action({ store, config, now }, parsed).catch(forPerson)
    process.stdout.write(`${parsed.values.json ? JSON.stringify(record, null, 2) : lines.join('\n')}\n`)
  },
}

/** A problem of the API is as clear on a terminal. */
function forPerson(error: unknown): never {
  throw error instanceof Problem ? new SetupError(error.detail.replace('GET /api/v1/tokens', '"tollmark tokens list"')) : error
}

function lineOf({ id, name, prefix, scopes, status, last_used_at }: Token): string {
  return [id, status.padEnd(7), prefix, scopes.join(',').padEnd(14), last_used_at?.slice(0, 16) ?? 'never used', name].join('  ')
}

function readScopes(list = 'convert'): Scope[] {
  const words = [...new Set(list.split(',').map((word) => word.trim()))]
  const wrong = words.find((word) => !Object.hasOwn(SCOPES, word))
  if (wrong !== undefined) throw new SetupError(`There is no scope "${wrong}". The scopes are ${Object.keys(SCOPES).join(', ')}.`)
  return words as Scope[]
}

function readDate(text: string | undefined, now: number): number | null {
  if (text === undefined) return null
  const date = Date.parse(text)
  if (Number.isNaN(date)) throw new SetupError(`"${text}" is no date. Write it as 2027-01-31 or 2027-01-31T12:00:00Z.`)
  if (date <= now) throw new SetupError(`${text} lies in the past.`)
  return date
}
