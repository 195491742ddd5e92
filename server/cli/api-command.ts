// What the commands share that call the management API.
import { environment, readConfig, type Config } from '../config/settings.ts'
import { SetupError } from '../common/errors.ts'
import type { Client } from './client.ts'
import type { Command, Option } from './command.ts'
import { AlreadySaid, Misuse, OutputLost, Refusal } from './failure.ts'
import { assertWritable, say, table, writeJson, writeLines, type Column } from './output.ts'
import type { Row } from './record.ts'
import { Values } from './values.ts'

/** What such a command works with. */
export interface Context {
  readonly client: Client
  readonly values: Values
  readonly args: readonly string[]
  readonly config: Config
  /** Milliseconds since 1970. */
  readonly now: number
}

/** What came of it: the record for `--json`, and lines for a person. */
export interface Outcome {
  readonly record: object
  readonly lines: readonly string[]
  /**
   * Where the record holds a secret that is shown once: undoes its making, and says what became of
   * it.
   */
  readonly undo?: () => Promise<string>
}

interface ApiCommand extends Omit<Command, 'run' | 'options'> {
  readonly options?: readonly Option[]
  /**
   * It makes something, so there may be no store yet; with `plan`, the first account is made on
   * that plan.
   */
  readonly makes?: true
  /** Whether its outcome holds a secret that is shown once. */
  readonly secret?: true
  readonly act: (context: Context) => Promise<Outcome>
}

/** Options that all of them have. */
export const COMMON: readonly Option[] = [
  { flags: '--json', summary: 'print JSON, and errors as JSON too' },
  { flags: '--url <url>', summary: 'a running server, instead of the store here (TOLLMARK_URL)' },
  { flags: '--token <token>', summary: 'an API token for it (TOLLMARK_TOKEN)' },
]
const INIT: Option = { flags: '--init', summary: 'start a new store where there is none' }

/** A command that calls the API: of the server in `--url`, else on the local store. */
export function apiCommand({ act, makes, secret, options = [], ...row }: ApiCommand): Command {
  return {
    ...row,
    options: [...options, ...COMMON, ...(makes ? [INIT] : [])],
    run: async (values, args) => {
      if (secret) assertWritable()
      const opening = {
        makes: makes
          ? { plan: values.text('plan') ?? 'free', account: nameOf(values.text('account')) }
          : null,
        init: values.flag('init'),
      }
      await using api = await openApi(values, opening)
      const outcome = await act({
        client: api.client,
        config: api.config,
        values,
        args,
        now: Date.now(),
      })
      await print(outcome, values.flag('json'))
    },
  }
}

/** The name of an account that can be made, where one is given. */
function nameOf(named: string | undefined): string | null {
  const name = named?.trim() ?? ''
  return name === '' || name.length > 200 ? null : name
}

type Opening = Parameters<(typeof import('./local.ts'))['openLocal']>[2]

/** The API that is meant. @throws Misuse, SetupError */
export async function openApi(
  values: Values,
  opening: Opening,
): Promise<AsyncDisposable & { client: Client; config: Config }> {
  const env = environment(process.cwd())
  const config = readConfig({ ...env, ...flagged(values) })
  const { url, token } = config.commandLine
  if (url !== null) {
    if (opening.init)
      throw new Misuse('--init makes a store here, and --url names a server. Give one of them.')
    const { remoteClient } = await import('./remote.ts')
    return {
      client: remoteClient(url, token),
      config,
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }
  }
  if (values.text('token') !== undefined)
    throw new Misuse('--token is for a running server. Give --url too.')
  const { openLocal } = await import('./local.ts')
  const local = await openLocal(config, env, opening)
  return { client: local.client, config, [Symbol.asyncDispose]: () => local[Symbol.asyncDispose]() }
}

/** What the options set that are settings too. */
export function flagged(values: Values): Record<string, string> {
  const [url, token] = [values.text('url'), values.text('token')]
  return {
    ...(url === undefined ? {} : { TOLLMARK_URL: url }),
    ...(token === undefined ? {} : { TOLLMARK_TOKEN: token }),
  }
}

async function print({ record, lines, undo }: Outcome, json: boolean): Promise<void> {
  try {
    await (json ? writeJson(record) : writeLines(lines))
  } catch (error) {
    if (!(error instanceof OutputLost) || undo === undefined) throw error
    say(`${error.message} ${await undo().catch(notUndone)}`)
    throw new AlreadySaid('', { cause: error })
  }
}

function notUndone(error: unknown): string {
  return error instanceof Refusal ? error.message : 'What was made could not be undone: revoke it.'
}

/** A list, for `--json` and for a person. */
export function listed(noun: string, rows: readonly Row[], columns: readonly Column[]): Outcome {
  return {
    record: { object: 'list', data: rows.map(({ json }) => json), next_cursor: null },
    lines: rows.length > 0 ? table(columns, rows) : [`There are no ${noun} yet.`],
  }
}

/** One record, field by field. */
export function described(row: Row): Outcome {
  const fields = Object.entries(row.json).filter(([name]) => name !== 'object')
  const widest = Math.max(...fields.map(([name]) => name.length))
  return {
    record: row.json,
    lines: fields.map(([name, value]) => `${name.padEnd(widest)}  ${cellOf(value)}`),
  }
}

function cellOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/**
 * The id of an account by its name or id; undefined where none is meant.
 *
 * @param make gives what to make where there is no account of that name; null makes none
 */
export async function accountId(
  client: Client,
  named: string | undefined,
  make: { plan: string } | null,
): Promise<string | undefined> {
  if (named === undefined) return undefined
  const name = named.trim()
  if (name === '') throw new Misuse('--account must not be empty.')
  if (name.length > 200) throw new Misuse('--account must not be longer than 200 characters.')
  const found = (await client.list('accounts')).find((one) =>
    [one.text('id'), one.text('name'), one.text('email')].includes(name),
  )
  if (found) return found.text('id')
  if (make === null)
    throw new SetupError(`There is no account "${name}". "tollmark accounts list" shows them.`)
  return (await client.post('accounts', { name, ...make })).text('id')
}

/** Whose records a list shows: those of all on the local store, else the caller's. */
export async function listedAccount(client: Client, values: Values): Promise<string | undefined> {
  const named = values.text('account')
  if (named === undefined) return client.isLocal ? 'all' : undefined
  return named === 'all' ? named : accountId(client, named, null)
}

/** Options that several commands have. */
export const OF_ACCOUNT: Option = {
  flags: '--account <account>',
  summary: 'only those of this account, or of "all"',
}
