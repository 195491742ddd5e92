// Shared by the commands that call the management API.
import { environment, readConfig, type Config } from '../config/settings.ts'
import { url } from '../config/setting-kinds.ts'
import { SetupError } from '../common/errors.ts'
import type { ApiClient } from './client.ts'
import { JSON_OPTION, type Command, type Option } from './command.ts'
import { AlreadyReported, Misuse, OutputError, ApiError } from './failure.ts'
import type { Interrupted } from './interrupt.ts'
import {
  assertWritable,
  printError,
  printNotes,
  table,
  writeJson,
  writeLines,
  type Column,
} from './output.ts'
import type { Row } from './record.ts'
import { OptionValues } from './values.ts'

/** The context of a command that calls the API. */
export interface CommandContext {
  readonly client: ApiClient
  readonly values: OptionValues
  readonly args: readonly string[]
  readonly config: Config
  /** Milliseconds since 1970. */
  readonly now: number
}

/** The result of a command: the record for `--json`, and lines for a person. */
export interface CommandResult {
  readonly record: object
  readonly lines: readonly string[]
  /** Further information, for standard error, so that piped output stays clean. */
  readonly notes?: readonly string[]
  /** The signal that ended the command early; thrown when the result is printed. */
  readonly interrupted?: Interrupted | null
  /**
   * For a record with a secret that is shown once: revokes it if it cannot be printed.
   *
   * @returns a sentence that says so
   */
  readonly undo?: () => Promise<string>
}

interface ApiCommandRow extends Omit<Command, 'run' | 'options'> {
  readonly options?: readonly Option[]
  /**
   * The command creates something, so there may be no store yet; with `plan`, the first account
   * gets that plan.
   */
  readonly creates?: true
  /** Whether the result contains a secret that is shown once. */
  readonly showsSecret?: true
  readonly act: (context: CommandContext) => Promise<CommandResult>
}

/** Options of all these commands. */
export const CONNECTION_OPTIONS: readonly Option[] = [
  JSON_OPTION,
  {
    flags: '--url <url>',
    summary: 'a running server, instead of the database here (TOLLMARK_URL)',
  },
  { flags: '--token <token>', summary: 'an API token for it (TOLLMARK_TOKEN)' },
]
const SERVER_URL = url('http:', 'https:')
const INIT_OPTION: Option = { flags: '--init', summary: 'create a new database if there is none' }

/** A command that calls the API of the server in `--url`, or works on the local store. */
export function apiCommand({
  act,
  creates,
  showsSecret,
  options = [],
  ...row
}: ApiCommandRow): Command {
  return {
    ...row,
    options: [...options, ...CONNECTION_OPTIONS, ...(creates ? [INIT_OPTION] : [])],
    run: async (values, args) => {
      if (showsSecret) assertWritable()
      const options = {
        creates: creates
          ? { plan: values.text('plan') ?? 'free', account: accountName(values.text('account')) }
          : null,
        init: values.flag('init'),
      }
      await using api = await openApi(values, options)
      const result = await act({
        client: api.client,
        config: api.config,
        values,
        args,
        now: Date.now(),
      }).catch((error: unknown) => {
        throw error instanceof ApiError ? new ApiError(error.problem, row.args) : error
      })
      await printResult(result, values.flag('json'))
    },
  }
}

/** The name of an account to create, if one is given. */
function accountName(named: string | undefined): string | null {
  const name = named?.trim() ?? ''
  return name === '' || name.length > 200 ? null : name
}

type OpenOptions = Parameters<(typeof import('./local.ts'))['openLocal']>[2]

/** Opens the API that the options name. @throws Misuse, SetupError */
export async function openApi(
  values: OptionValues,
  options: OpenOptions,
): Promise<AsyncDisposable & { client: ApiClient; config: Config }> {
  const env = environment(process.cwd())
  const config = readConfig({ ...env, ...settingsFromFlags(values) })
  const { url, token } = config.commandLine
  if (url !== null) {
    if (options.init)
      throw new Misuse(
        '--init creates a database here, and --url names a server. Give one of them.',
      )
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
  const local = await openLocal(config, env, options)
  return { client: local.client, config, [Symbol.asyncDispose]: () => local[Symbol.asyncDispose]() }
}

/** The settings that the options override. @throws Misuse if --url is not an address */
export function settingsFromFlags(values: OptionValues): Record<string, string> {
  const [url, token] = [values.text('url'), values.text('token')]
  if (url !== undefined && url !== '' && SERVER_URL.parse(url) === undefined) {
    const completed = `http://${url}`
    const meant = SERVER_URL.parse(completed) && !url.includes('//') ? ` Write ${completed}.` : ''
    throw new Misuse(`--url: "${url}" is not ${SERVER_URL.what}.${meant}`)
  }
  return {
    ...(url === undefined ? {} : { TOLLMARK_URL: url }),
    ...(token === undefined ? {} : { TOLLMARK_TOKEN: token }),
  }
}

async function printResult(
  { record, lines, notes = [], interrupted = null, undo }: CommandResult,
  json: boolean,
): Promise<void> {
  try {
    await (json ? writeJson(record) : writeLines(lines))
  } catch (error) {
    if (!(error instanceof OutputError) || undo === undefined) throw error
    printError(`${error.message} ${await undo().catch(undoFailed)}`)
    throw new AlreadyReported('', { cause: error })
  }
  if (!json) printNotes(notes)
  if (interrupted !== null) throw interrupted
}

function undoFailed(error: unknown): string {
  return error instanceof ApiError
    ? error.message
    : 'The new record could not be removed: revoke it.'
}

/** The result of a command that lists rows. */
export function listResult(
  noun: string,
  rows: readonly Row[],
  columns: readonly Column[],
): CommandResult {
  return {
    record: { object: 'list', data: rows.map(({ json }) => json), next_cursor: null },
    lines: rows.length > 0 ? table(columns, rows) : [`There are no ${noun} yet.`],
  }
}

/** The result of a command that shows one record. */
export function recordResult(row: Row): CommandResult {
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
 * Finds an account by name or id; undefined if none is named.
 *
 * @param create the account to create if none has this name; null creates none
 */
export async function accountId(
  client: ApiClient,
  named: string | undefined,
  create: { plan: string } | null,
): Promise<string | undefined> {
  if (named === undefined) return undefined
  const name = named.trim()
  if (name === '') throw new Misuse('--account must not be empty.')
  if (name.length > 200) throw new Misuse('--account must not be longer than 200 characters.')
  const found = (await client.list('accounts')).find((one) =>
    [one.text('id'), one.text('name'), one.text('email')].includes(name),
  )
  if (found) return found.text('id')
  if (create === null)
    throw new SetupError(`There is no account "${name}". "tollmark accounts list" shows them.`)
  return (await client.post('accounts', { name, ...create })).text('id')
}

/**
 * The account filter of a list. Default: all accounts on the local store, the caller's own on a
 * server.
 */
export async function accountFilter(
  client: ApiClient,
  values: OptionValues,
): Promise<string | undefined> {
  const named = values.text('account')
  if (named === undefined) return client.isLocal ? 'all' : undefined
  return named === 'all' ? named : accountId(client, named, null)
}

/** Options shared by several commands. */
export const ACCOUNT_OPTION: Option = {
  flags: '--account <account>',
  summary: 'only those of this account, or of "all"',
}
