// Code that works as it stands, for whoever has just made a key: for a provider that is ready, and
// a model that the key allows.
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

/** Whether a chat is an example of what a provider without a row answers. */
const isChat = ({ id, source }: Provider): boolean => source !== 'built_in' || CHATS.has(id)

/** A provider that a key may call, with one of its models. */
export interface Choice {
  provider: Pick<Provider, 'id' | 'name' | 'base' | 'hosts' | 'dial' | 'ready'>
  /** In angle brackets where a person has to put one. */
  model: string
  row: Row
}

type Scope = Pick<Key, 'models' | 'providers'>

/**
 * What the snippets of a key can be for, the best first: providers that are ready, and models that
 * are known. Where none of its providers is ready, the ones that could be.
 *
 * @param seen models that requests have named
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
 * A model for an example that the key may reach; where we know none, what a person has to put
 * there; null where the key may reach none of that kind.
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
 * A provider that can be called, and a family of its models, as examples of what a key may be held
 * to; null where nothing is known.
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

/** Whether a name fits an entry of a key's models, in which `*` stands for anything. */
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

/** What a snippet is for. */
interface Use {
  secret: string
  streaming: boolean
  /** The proxy's own. */
  origin: string
  /** The page that calls must come from; null: any. */
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
    // Python has no page that it could come from.
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

/**
 * The provider's address, without the slash at its end; what a person must fill in is in angle
 * brackets.
 */
function baseOf({ id, base, hosts, dial }: Choice['provider']): string {
  const [, host = ''] = /^https:\/\/([^/]+)/.exec(base) ?? []
  const pattern = new RegExp(`^${host.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[\\w-]+')}$`)
  const known = hosts.find((one) => pattern.test(one)) ?? host
  const written = base
    .replace(host, known)
    .replaceAll(/\{(\w+)\}/g, '<$1>')
    .replace(/\/$/, '')
  // Servers that speak OpenAI's dialect have it below /v1, unless that is where we dial.
  const bare = ROWS.every((row) => row.id !== id) && /^https:\/\/[^/]+$/.test(written)
  return bare && !/\/v\d+\/?$/.test(dial ?? '') ? `${written}/v1` : written
}

const isKnown = (id: string): id is keyof typeof SDK_BASES => Object.hasOwn(SDK_BASES, id)

/** What the provider's SDK takes for a base: its host with the path that the SDK wants. */
function sdkBaseOf(id: string, base: string): string {
  if (!isKnown(id)) return base
  const path = SDK_BASES[id].replace(/^[^/]+/, '')
  return base.replace(/^(.*\/proxy\/[^/]+).*$/, `$1${path}`)
}

/**
 * Settings that name an address to the AI SDK's provider, which our `fetch` then leads through the
 * proxy.
 */
function addressed(id: string, base: string): string[] {
  const [, resource = '<resource>'] = /^https:\/\/([\w-]+)\.openai\.azure/.exec(base) ?? []
  if (id === 'azure') return [`resourceName: '${resource}',`]
  return ROWS.some((row) => row.id === id) ? [] : [`baseURL: '${base}',`]
}

/** TABLE of packages of ours that wrap a provider whole. */
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

/** The programs that can be pointed at a provider. */
export const programsFor = ({ provider }: Choice): readonly ClientSetup[] =>
  CLIENTS.filter((client) => client.provider === provider.id)

/** What to set in a program, and where. */
export function setupOf(client: ClientSetup, origin: string, secret: string): Snippet {
  const { where, lines } = fillTemplate(client, origin, secret)
  return { title: where.replace(/^[a-z]/, (first) => first.toUpperCase()), code: lines.join('\n') }
}
