// What the commands share that work on the store: finding the action, opening the store of this folder's settings, printing what came of it.
import { parseArgs } from 'node:util'
import { environment, readConfig, type Config } from '../../../server/config.ts'
import { Problem, SetupError } from '../../../server/errors.ts'
import { Moment } from '../../../server/manage/fields.ts'
import { openStore, type Store } from '../../../server/store/open.ts'
import type { Command } from './main.ts'

/** What an action works with. */
export interface Context {
  store: Store
  config: Config
  now: number
}

/** What came of an action: the record for `--json`, and the lines for a person. */
export interface Outcome {
  record: object
  lines: string[]
}

/** Actions that are about none in particular: no id stands behind them. */
const ON_NONE: ReadonlySet<string> = new Set(['create', 'list'])

/** More rows than anyone has; a list on a terminal is not paged. */
export const ALL = 1_000_000

/** What an action gets of the command line: the options that were given, and what stands behind its word. */
export interface Given<N extends string> {
  values: Partial<Record<N, string>>
  /** @throws SetupError where nothing stands there */
  id: () => string
}

/**
 * A command with actions: `tollmark keys create --name N`. A running server on the same store sees the change within a second.
 *
 * @param nouns what the command is about, as its name
 * @param options TABLE of the options by the action that knows them
 * @param flags those of them that take no value
 * @param actions TABLE of actions by their words
 */
export function storeCommand<const N extends string>(
  nouns: string,
  usage: string,
  options: Readonly<Record<string, readonly N[]>>,
  actions: Readonly<Record<string, (context: Context, given: Given<N>) => Promise<Outcome>>>,
  flags: ReadonlySet<string> = new Set(),
): Command {
  const taking = Object.fromEntries(Object.values(options).flat().map((name) => [name, { type: flags.has(name) ? ('boolean' as const) : ('string' as const) }]))
  return {
    usage,
    run: async (args) => {
      const { values, positionals } = parseArgs({ args, options: { ...taking, json: { type: 'boolean', default: false } }, allowPositionals: true })
      const { json, ...given } = values
      const [word = '', id, ...more] = positionals
      const action = Object.hasOwn(actions, word) ? actions[word] : undefined
      if (!action) throw new SetupError(`Say what to do with ${nouns}: ${Object.keys(actions).join(', ')}.`)
      const unexpected = ON_NONE.has(word) ? id : more[0]
      if (unexpected !== undefined) throw new SetupError(`Unexpected argument '${unexpected}'.`)
      const foreign = Object.keys(given).find((name) => !options[word]?.some((known) => known === name))
      if (foreign !== undefined) throw new SetupError(`"tollmark ${nouns} ${word}" has no option --${foreign}.`)
      const idOf = (): string => {
        if (!id) throw new SetupError(`Say which ${nouns.slice(0, -1)}: tollmark ${nouns} ${word} ID. "tollmark ${nouns} list" shows the ids.`)
        return id
      }
      const config = readConfig(environment(process.cwd()))
      const now = Date.now()
      await using store = await openStore({ ...config.storage, now, existing: word !== 'create' })
      const texts = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]))
      // parseArgs has let only these names in, each with a text, or given as a flag.
      const { record, lines } = await action({ store, config, now }, { values: texts as Partial<Record<N, string>>, id: idOf }).catch((error: unknown) => forPerson(error, nouns))
      process.stdout.write(`${json ? JSON.stringify(record, null, 2) : lines.map(plain).join('\n')}\n`)
    },
  }
}

/** A line as a terminal may have it: names are other people's, and a control character in one could say anything. */
const plain = (line: string): string => line.replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '\ufffd')

/** A list for `--json` and for a person. */
export function listed<R>(nouns: string, data: R[], lineOf: (row: R) => string): Outcome {
  return { record: { object: 'list', data, next_cursor: null }, lines: data.length > 0 ? data.map(lineOf) : [`There are no ${nouns} yet.`] }
}

/** A moment that lies ahead, in milliseconds since 1970; null where none was given. @throws SetupError */
export function readDate(text: string | undefined, now: number): number | null {
  if (text === undefined) return null
  if (!Moment.safeParse(text).success) throw new SetupError(`"${text}" is not a date. Write it as 2027-01-31 or 2027-01-31T12:00:00Z.`)
  const date = Date.parse(text)
  if (date <= now) throw new SetupError(`${text} lies in the past.`)
  return date
}

/** A name, as the API takes it. @throws SetupError */
export function readName(text: string | undefined, noun: string): string {
  if (!text?.trim()) throw new SetupError(`Give the ${noun} a name: --name NAME.`)
  return name(text, '--name')
}

/** The name of an account; null for the first one, where none was given. @throws SetupError */
export function readAccount(text: string | undefined): string | null {
  return text === undefined ? null : name(text, '--account')
}

function name(text: string, option: string): string {
  const trimmed = text.trim()
  if (trimmed === '') throw new SetupError(`${option} must not be empty.`)
  if (trimmed.length > 200) throw new SetupError(`${option} must not be longer than 200 characters.`)
  return trimmed
}

/** A problem of the API is as clear on a terminal. */
function forPerson(error: unknown, nouns: string): never {
  throw error instanceof Problem ? new SetupError(error.detail.replace(`GET /api/v1/${nouns}`, `"tollmark ${nouns} list"`)) : error
}
