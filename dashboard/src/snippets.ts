// Snippets that work unchanged with a new key: for a provider that is ready, and a model that the
// key allows.
import { CLIENTS, SDK_BASES, fillTemplate, type ClientSetup } from '../../server/common/clients.ts'
import type { Key, Model, Provider } from './api/shapes.ts'
import { aiSdk, curl, customFetch, typescript, withSdk, wrapped } from './snippet-code.ts'
import type { Call, Snippet } from './snippet-code.ts'
import { ROWS, type Row } from './snippet-providers.ts'
import { SDKS } from './snippet-sdks.ts'

/** TABLE of built-in providers without a row whose base URL speaks OpenAI's dialect. */
const CHATS: ReadonlySet<string> = new Set([
  'alibaba',
  'baseten',
  'bytedance',
  'deepinfra',
  'gateway',
  'gmicloud',
  'huggingface',
  'minimax',
  'moonshotai',
  'ollama',
  'vercel',
])

/** Whether a provider without a row supports chat completions. */
const isChat = ({ id, source }: Provider): boolean => source !== 'built_in' || CHATS.has(id)

/** A provider that a key may call, with one of its models. */
export interface Choice {
  provider: Pick<Provider, 'id' | 'name' | 'base' | 'hosts' | 'dial' | 'ready'>
  /** In angle brackets if the user must fill it in. */
  model: string
  row: Row
}

type Scope = Pick<Key, 'models' | 'providers'>

/**
 * Choices for a key's snippets, best first: ready providers with known models, or, if none is
 * ready, those that could be.
 *
 * @param seen models named in requests
 */
export function choicesFor(
  scope: Scope,
  all: readonly Provider[],
  seen: readonly Model[],
): Choice[] {
  const allowed = all.filter(({ id }) => scope.providers === null || scope.providers.includes(id))
  const choices = allowed.flatMap((provider) => {
    const row =
      ROWS.find(({ id }) => id === provider.id) ??
      (isChat(provider) ? ROWS.find(({ id }) => id === null) : undefined)
    if (row === undefined) return []
    const known = seen.filter((model) => model.provider === provider.id).map(({ id }) => id)
    const model = modelOf(row, scope.models, known)
    return model === null ? [] : [{ provider, model, row }]
  })
  const ready = choices.filter(({ provider }) => provider.ready)
  const rank = ({ model, row }: Choice): number =>
    (isPlaceholder(model) ? ROWS.length : 0) + ROWS.indexOf(row)
  return (ready.length > 0 ? ready : choices).sort((a, b) => rank(a) - rank(b))
}

/**
 * A model that the key may call; a placeholder if we know none; null if the key allows none of this
 * provider.
 */
function modelOf(
  row: Row,
  scope: readonly string[] | null,
  seen: readonly string[],
): string | null {
  const { models, prefix = '', model, others = [] } = row
  const plain = (name: string): string =>
    name.startsWith(prefix) ? name.slice(prefix.length) : name
  if (scope === null) return model || (seen[0] ?? '<a model>')
  const own = scope.filter((entry) => models.test(entry) || /^[*]/.test(entry))
  const named = [...own.filter((entry) => !entry.includes('*')), ...seen]
  const known = [model, ...named, ...others].filter((name) => name !== '').map(plain)
  const fitting = (name: string): boolean =>
    scope.some((entry) => fits(entry, name) || fits(entry, prefix + name))
  const allowed = known.find(fitting)
  if (allowed !== undefined) return allowed
  return own[0] === undefined ? null : `<a model like ${plain(own[0])}>`
}

/**
 * A provider and a family of its models, as examples of restrictions of a key; null if none is
 * known.
 */
export function exampleScope(
  all: readonly Provider[],
  seen: readonly Model[],
): { provider: string; models: string } | null {
  const found = choicesFor({ models: null, providers: null }, all, seen)[0]
  if (found === undefined) return null
  const { provider, model } = found
  return {
    provider: provider.id,
    models: isPlaceholder(model) ? 'model-*' : model.replace(/(?:-[^-]*)?$/, '*'),
  }
}

const isPlaceholder = (model: string): boolean => model.startsWith('<')

/** Whether a name matches an entry of a key's models; `*` matches anything. */
function fits(entry: string, name: string): boolean {
  const pieces = entry.split('*')
  const last = pieces.pop() ?? ''
  if (pieces.length === 0) return name === entry
  if (!name.startsWith(pieces[0] ?? '')) return false
  let at = 0
  for (const piece of pieces) {
    const found = name.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return name.endsWith(last) && name.length - last.length >= at
}

/** What a snippet needs. */
interface Use {
  secret: string
  streaming: boolean
  /** The proxy's origin. */
  origin: string
  /** The origin that calls must come from; null for any. */
  page: string | null
}

/** The snippets for a choice, each one complete. */
export function snippetsOf(
  { provider, model, row }: Choice,
  { secret, streaming, origin, page }: Use,
): Snippet[] {
  const direct = baseOf(provider)
  const base = direct.replace(/^https:\//, `${origin}/proxy`)
  const [, region = '<region>'] = /runtime\.([\w-]+)\.amazonaws/.exec(direct) ?? []
  const call: Call = { origin, secret, base, model, region, dialect: row.dialect, streaming, page }
  const settings = row.ai.settings.map((line) => line.replace('<region>', region))
  const { typescript: ts, python } = SDKS[row.sdk]
  const forSdk = sdkBaseOf(provider.id, base)
  return [
    { title: 'curl', code: curl(call) },
    { title: 'TypeScript', code: typescript(ts, forSdk, call) },
    // Python sends no Origin.
    ...(page === null ? [{ title: 'Python', code: withSdk(python, forSdk, call) }] : []),
    {
      title: 'AI SDK',
      code: aiSdk(
        call,
        { ...row.ai, settings },
        provider.id === 'azure' ? base.replace(/\/v1$/, '') : base,
      ),
    },
    ownPackage(provider, call, {
      ...row.ai,
      settings: [...settings, ...addressed(provider.id, direct)],
    }),
  ]
}

/** The provider's base URL, without a trailing slash; placeholders are in angle brackets. */
function baseOf({ id, base, hosts, dial }: Choice['provider']): string {
  const [, host = ''] = /^https:\/\/([^/]+)/.exec(base) ?? []
  const pattern = new RegExp(`^${host.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[\\w-]+')}$`)
  const known = hosts.find((one) => pattern.test(one)) ?? host
  const written = base
    .replace(host, known)
    .replaceAll(/\{(\w+)\}/g, '<$1>')
    .replace(/\/$/, '')
  // OpenAI-compatible servers have their API under /v1, unless `dial` already includes it.
  const bare = ROWS.every((row) => row.id !== id) && /^https:\/\/[^/]+$/.test(written)
  return bare && !/\/v\d+\/?$/.test(dial ?? '') ? `${written}/v1` : written
}

const isKnown = (id: string): id is keyof typeof SDK_BASES => Object.hasOwn(SDK_BASES, id)

/** The base URL for the provider's SDK: its host with the path that the SDK expects. */
function sdkBaseOf(id: string, base: string): string {
  if (!isKnown(id)) return base
  const path = SDK_BASES[id].replace(/^[^/]+/, '')
  return base.replace(/^(.*\/proxy\/[^/]+).*$/, `$1${path}`)
}

/**
 * Settings that give the AI SDK's provider an address; our `fetch` sends the calls through the
 * proxy.
 */
function addressed(id: string, base: string): string[] {
  const [, resource = '<resource>'] = /^https:\/\/([\w-]+)\.openai\.azure/.exec(base) ?? []
  if (id === 'azure') return [`resourceName: '${resource}',`]
  return ROWS.some((row) => row.id === id) ? [] : [`baseURL: '${base}',`]
}

/** TABLE of our packages that wrap a provider. */
const PACKAGES: Readonly<Record<string, readonly [name: string, create: string]>> = {
  google: ['genai', 'createProxyGenai'],
  vertex: ['genai-express', 'createProxyExpress'],
}

function ownPackage({ id }: Choice['provider'], call: Call, provider: Row['ai']): Snippet {
  const own = PACKAGES[id]
  return own === undefined
    ? { title: '@proxy-sdk/core', code: customFetch(call, provider) }
    : { title: `@proxy-sdk/${own[0]}`, code: wrapped(call, ...own) }
}

/** The programs that can use a provider. */
export const programsFor = ({ provider }: Choice): readonly ClientSetup[] =>
  CLIENTS.filter((client) => client.provider === provider.id)

/** The settings for a program, and where they go. */
export function setupOf(client: ClientSetup, origin: string, secret: string): Snippet {
  const { where, lines } = fillTemplate(client, origin, secret)
  return { title: where.replace(/^[a-z]/, (first) => first.toUpperCase()), code: lines.join('\n') }
}
