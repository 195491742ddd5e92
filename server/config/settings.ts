// All settings, and the one place that reads the environment. A new setting is a new row of its
// area (areas/); validation, the typed `Config`, `.env.example` and docs/settings.md follow from
// it.
import { join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { SetupError, codeOf } from '../common/errors.ts'
import { nearestName } from '../common/nearest-name.ts'
import { accounts } from './areas/accounts.ts'
import { commandLine } from './areas/command-line.ts'
import { conversion } from './areas/conversion.ts'
import { ledger } from './areas/ledger.ts'
import { watch } from './areas/monitoring.ts'
import { credentials, upstreams } from './areas/providers.ts'
import { proxy } from './areas/proxy.ts'
import { server } from './areas/server.ts'
import { storage } from './areas/storage.ts'
import { mapValues } from './map-values.ts'
import { readProvidersFile, type ProviderEntry } from './providers-file.ts'
import type { Setting, SettingsArea } from './setting-kinds.ts'
import { readText } from './text-file.ts'

/** TABLE of areas, in the order of the documentation. */
const areas = {
  server,
  commandLine,
  storage,
  accounts,
  conversion,
  proxy,
  ledger,
  watch,
  credentials,
  upstreams,
} satisfies Record<string, SettingsArea>

type Areas = typeof areas
type Value<S> = S extends Setting<infer T> ? T : never

/** Every setting's value, by area and field. Frozen. */
export type Config = {
  readonly [A in keyof Areas]: { readonly [F in keyof Areas[A]]: Value<Areas[A][F]> }
} & {
  /** The rows of the TOLLMARK_PROVIDERS file, with their credentials. */
  readonly customProviders: readonly ProviderEntry[]
}

/**
 * Reads and checks every setting once. An empty variable counts as unset.
 *
 * @param env the environment, usually `environment()`
 * @throws SetupError with one line for every invalid setting
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const errors: string[] = []
  const read = (row: Setting<unknown>): unknown => {
    const given = env[row.name]?.trim() || row.default
    if (given === null) return null
    const value = row.kind.parse(given)
    if (value === undefined)
      errors.push(
        `${row.name} must be ${row.kind.what}${row.secret ? '' : `, but is ${JSON.stringify(given)}`}.`,
      )
    return value
  }
  const config = mapValues(areas, (area) => Object.freeze(mapValues(area, read)))
  if (errors.length > 0) throw new SetupError(errors.join('\n'))
  // The table's types say what `read` returns for each row, but TypeScript cannot follow that
  // through the two loops.
  const { storage, ...rest } = config as unknown as Omit<Config, 'customProviders'>
  const customProviders = Object.freeze(
    rest.proxy.providers === null ? [] : readProvidersFile(rest.proxy.providers, env),
  )
  return Object.freeze({
    ...rest,
    customProviders,
    storage: Object.freeze({ ...storage, data: resolve(storage.data) }),
  })
}

/**
 * The environment of this process, which overrides a `.env` file in `folder`.
 *
 * @throws SetupError if the file exists and cannot be read, or names a setting without assigning it
 */
export function environment(folder: string): Record<string, string | undefined> {
  const file = join(folder, '.env')
  const text = readIfExists(file)
  checkAssignments(text, file)
  return { ...parseEnv(text), ...process.env }
}

/**
 * `PORT: 33` and `PORT 33` would be ignored silently: `parseEnv` skips a line that assigns nothing.
 */
function checkAssignments(text: string, file: string): void {
  const known = new Set(rows().map(({ name }) => name))
  for (const [index, line] of text.split('\n').entries()) {
    const [, name = ''] = /^\s*(?:export\s+)?(\w+)\s*(?:[^\w\s=]|\s[^\s=]|$)/.exec(line) ?? []
    if (known.has(name))
      throw new SetupError(`${file}, line ${index + 1}: write ${name}=value, with an equals sign.`)
  }
}

function readIfExists(file: string): string {
  try {
    return readText(file)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return ''
    throw new SetupError(
      `The settings in ${file} cannot be read (${codeOf(error) ?? 'unknown reason'}).`,
      { cause: error },
    )
  }
}

const OURS = 'TOLLMARK_'

/**
 * Variables that begin with `TOLLMARK_` but belong to no row and no added provider: most likely
 * typing errors. With the setting that was probably meant, if one is close.
 */
export function unknownSettings(
  env: Readonly<Record<string, string | undefined>>,
  added: readonly ProviderEntry[] = [],
): { name: string; did_you_mean?: string }[] {
  const known = new Set([
    ...rows().map((row) => row.name),
    ...added.map(({ credential }) => credential?.env),
  ])
  const byShortName = new Map(rows().map(({ name }) => [name.replace(OURS, ''), name]))
  return Object.keys(env)
    .filter((name) => name.startsWith(OURS) && !known.has(name))
    .map((name) => {
      const nearest = nearestName(name.replace(OURS, ''), [...byShortName.keys()])
      const did_you_mean = byShortName.get(nearest ?? '')
      return did_you_mean === undefined ? { name } : { name, did_you_mean }
    })
}

/** The text of `.env.example`: every setting with its sentence and default, commented out. */
export function envExample(): string {
  const head =
    '# Every setting, with its default. Copy to .env and change what you need; the environment wins over the file.\n'
  return head + rows().map(exampleLine).join('')
}

function exampleLine({ sentence, kind, name, default: standard }: Setting<unknown>): string {
  return `\n# ${sentence}\n# ${kind.what}\n#${name}=${standard ?? ''}\n`
}

/** The settings by area, in the order of the table. */
export function settings(): [area: string, rows: Setting<unknown>[]][] {
  return Object.entries(areas).map(([name, area]) => [name, Object.values<Setting<unknown>>(area)])
}

function rows(): Setting<unknown>[] {
  return settings().flatMap(([, area]) => area)
}
