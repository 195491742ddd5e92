// The provider table: built-in rows, what the operator changes of them and adds, and the one
// look-up that decides who may be called.
import { dialled, HOST_PART } from '../../config/setting-kinds.ts'
import { anthropic } from './anthropic.ts'
import { azure } from './azure.ts'
import { bedrock } from './bedrock.ts'
import { cerebras } from './cerebras.ts'
import { CLOUD_RESOURCE, operatedKeys } from './cloud-resources.ts'
import { closedAt } from './closed.ts'
import { cohere } from './cohere.ts'
import { deepseek } from './deepseek.ts'
import { compileEndpoints } from './endpoint-table.ts'
import type { BodyRule } from './endpoint-row.ts'
import { fireworks } from './fireworks.ts'
import { google } from './google.ts'
import { groq } from './groq.ts'
import { idNamesOf } from './id-names.ts'
import { compileIds, OPENAI_PREFIXES, withUnknownForms } from './ids.ts'
import { mistral } from './mistral.ts'
import { openai } from './openai.ts'
import { BODY, compatibleRows, OPENAI_ADMIN, toolsIn, videoRows } from './openai-rows.ts'
import { openrouter } from './openrouter.ts'
import { perplexity } from './perplexity.ts'
import type {
  CustomProvider,
  DialAddress,
  IdForms,
  Provider,
  ProviderRow,
  Upstream,
} from './provider.ts'
import { together } from './together.ts'
import { GATEWAY_TOOLS } from './tools.ts'
import { vertex } from './vertex.ts'
import { xai } from './xai.ts'

/** TABLE of built-in providers. */
export const PROVIDERS: readonly ProviderRow[] = [
  google,
  vertex,
  openai,
  azure,
  anthropic,
  mistral,
  groq,
  xai,
  deepseek,
  cohere,
  together,
  fireworks,
  perplexity,
  openrouter,
  cerebras,
  bedrock,
]

export interface ProviderTable {
  /** Every provider, built-in and added. */
  readonly providers: readonly Provider[]
  byId(id: string): Provider | undefined
  /** Every address that may be called. */
  readonly upstreams: readonly Upstream[]
  /** Whose address this is, or null: then nobody may call it. */
  find(hostname: string, port: number): Upstream | null
  /**
   * A provider of the same domain as a host, or null: how a refusal is written that concerns an
   * address of nobody's.
   */
  findByDomain(hostname: string): Provider | null
}

export interface TableSettings {
  /** Where to dial instead, by provider id: `TOLLMARK_UPSTREAM_<ID>`. */
  readonly overrides?: Readonly<Record<string, string>>
  /** Providers of `TOLLMARK_PROVIDERS`. */
  readonly custom?: readonly CustomProvider[]
  /**
   * The values of host patterns that stored credentials carry: `{ provider: 'azure', values: {
   * resource: 'acme' } }`.
   */
  readonly instances?: readonly {
    readonly provider: string
    readonly values: Readonly<Record<string, string>>
  }[]
}

/**
 * Builds the table. Throws an Error with one sentence when a setting cannot stand. Call it again
 * when a credential with another resource or region is stored; it is a few microseconds of work.
 */
export function createProviderTable(settings: TableSettings = {}): ProviderTable {
  const byId = new Map<string, Provider>()
  const byHost = new Map<string, Upstream>()
  const changed = new Map((settings.custom ?? []).map((custom) => [custom.id, custom]))

  for (const row of PROVIDERS) {
    const custom = changed.get(row.id)
    const provider = compileProvider(
      custom
        ? authenticated(
            { ...rowAt(row, hostOf(custom)), auth: row.auth, hosts: [hostOf(custom)] },
            custom,
          )
        : row,
    )
    byId.set(row.id, provider)
    const override = settings.overrides?.[row.id]
    const instances = (settings.instances ?? [])
      .filter((instance) => instance.provider === row.id)
      .map((instance) => instance.values)
    for (const pattern of provider.hosts) {
      for (const { host, instance } of hosts(pattern, instances)) {
        const origin = `https://${host}`
        const dial = override ?? custom?.dial ?? origin
        byHost.set(withPort(host), { provider, origin, dial: readDial(dial, row.id), instance })
      }
    }
  }
  for (const custom of changed.values()) {
    if (byId.has(custom.id)) continue
    const host = hostOf(custom)
    const provider = compileProvider(
      authenticated(
        { ...(builtInRowFor(custom, host) ?? customRow(custom, host)), hosts: [host] },
        custom,
      ),
    )
    byId.set(custom.id, provider)
    const taken = byHost.get(withPort(host))
    if (taken && changed.has(taken.provider.id))
      throw new InvalidProvider(
        custom.id,
        'origin',
        `Names the host ${host}, and so does "${taken.provider.id}".`,
      )
    const dial = settings.overrides?.[custom.id] ?? custom.dial ?? custom.origin
    byHost.set(withPort(host), {
      provider,
      origin: `https://${host}`,
      dial: readDial(dial, custom.id),
      instance: {},
    })
  }
  const byDomain = new Map(
    [...byHost.values()].map(({ origin, provider }) => [
      domainOf(new URL(origin).hostname),
      provider,
    ]),
  )
  return {
    providers: [...byId.values()],
    byId: (id) => byId.get(id),
    upstreams: [...byHost.values()],
    find: (hostname, port) => byHost.get(`${hostname}:${port}`) ?? null,
    findByDomain: (hostname) => byDomain.get(domainOf(hostname)) ?? null,
  }
}

const compileProvider = (row: ProviderRow): Provider => {
  const ids = compileIds(row.spelling, row.hosts)
  return compileRow(row, row.anyIds === true ? withUnknownForms(ids) : ids)
}

const compileRow = (whole: ProviderRow, ids: IdForms, endpoints = compiled(whole)): Provider => {
  const { operated, ...row } = whole
  return {
    ...row,
    ...(operated === undefined ? {} : { operated: operatedKeys(operated) }),
    endpoints,
    minting: row.minting ?? [],
    admin: row.admin ?? [],
    modelNames: row.modelNames ?? ((name) => [name]),
    publicObjects: { ...PUBLIC, ...row.publicObjects },
    ids,
    unknownIds: withUnknownForms(ids),
    idNames: idNamesOf(row.endpoints, endpoints.kinds),
  }
}

/**
 * What a place of OpenAI's dialect names that nobody has made:
 * https://platform.openai.com/docs/guides/text-to-speech, …/guides/tools-skills.
 */
const PUBLIC: Readonly<Record<string, RegExp>> = { voice: /^(?!voice_)/, skill: /^(?!skill_)/ }

/** Rows are compiled once a process, however often the table is built. */
const tables = new WeakMap<readonly unknown[], Provider['endpoints']>()
function compiled(row: ProviderRow): Provider['endpoints'] {
  let table = tables.get(row.endpoints)
  if (!table)
    tables.set(
      row.endpoints,
      (table = compileEndpoints(row.endpoints, [
        ...(row.spelling?.models?.kinds ?? []),
        ...(row.spelling?.clouds === true ? [CLOUD_RESOURCE] : []),
        ...(row.operated === undefined ? [] : operatedKeys(row.operated).kinds),
      ])),
    )
  return table
}

/**
 * The built-in row of an added provider's host (another region of it, or another credential for
 * it): what is known of its endpoints, and which of them are closed, holds there too. Undefined
 * where the host is nobody's.
 */
function builtInRowFor({ id }: CustomProvider, host: string): ProviderRow | undefined {
  const row = PROVIDERS.find(
    ({ hosts, elsewhere }) => isOneOf(host, hosts) || isOneOf(host, elsewhere?.hosts ?? []),
  )
  return row && { ...rowAt(row, host), id, name: id }
}

/** A row as it is at a host, which may be one of those elsewhere. */
const rowAt = (row: ProviderRow, host: string): ProviderRow =>
  isOneOf(host, row.elsewhere?.hosts ?? []) ? { ...row, ...row.elsewhere } : row

const isOneOf = (host: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) => patternOf(pattern).test(host))
const patternOf = (pattern: string): RegExp =>
  new RegExp(`^${pattern.replaceAll('.', String.raw`\.`).replace(/\{\w+\}/, '[a-z0-9-]+')}$`)

/**
 * What runs behind an added provider may be a gateway, which runs other models where it is told to:
 * LiteLLM by any of these (docs.litellm.ai/docs/proxy/client_side_fallbacks, …/reliability), and
 * `extra_body` may be put over the body.
 */
const GATEWAY_BODY: Partial<BodyRule> = {
  also: [
    ...(BODY.also ?? []),
    'extra_body.model',
    'extra_body.models[]',
    'tools[].parameters.model',
  ],
  stored: [
    'fallbacks',
    'context_window_fallbacks',
    'context_window_fallback_dict',
    'content_policy_fallbacks',
    'fallback_models',
    'preset',
    'prompt_id',
    'user_config',
    'model_list',
    'api_base',
    'base_url',
    'custom_llm_provider',
    'deployment_id',
    'litellm_params',
    'plugins',
    ...['fallbacks', 'tools', 'preset', 'plugins'].map((name) => `extra_body.${name}`),
  ],
  tools: toolsIn('', GATEWAY_TOOLS),
}

/**
 * Headers by which gateways choose a provider, an address or a model:
 * portkey.ai/docs/api-reference/inference-api/headers,
 * docs.helicone.ai/helicone-headers/header-directory
 */
const GATEWAY_HEADERS = [
  'x-portkey-config',
  'x-portkey-provider',
  'x-portkey-custom-host',
  'helicone-target-url',
  'helicone-openai-api-base',
  'helicone-fallbacks',
]

/** An added provider: a server that speaks OpenAI's dialect below any path. */
const COMPATIBLE = ['', '/{base*}']
  .flatMap((prefix) => [...compatibleRows(prefix, GATEWAY_BODY), ...videoRows(prefix)])
  .map((row) =>
    row.model?.at === 'body' ? { ...row, model: { ...row.model, headers: GATEWAY_HEADERS } } : row,
  )
const customRow = (custom: CustomProvider, host: string): ProviderRow => ({
  id: custom.id,
  name: custom.id,
  base: custom.origin,
  hosts: [],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  endpoints: COMPATIBLE,
  anyIds: true,
  // A gateway may reach the operator's clouds.
  spelling: { prefixes: OPENAI_PREFIXES, uuids: true, clouds: true },
  minting: closedAt(host).minting,
  admin: [...OPENAI_ADMIN, ...closedAt(host).admin],
  errors: 'openai',
  usage: 'openai',
})

/** An added provider that the table cannot hold. */
export class InvalidProvider extends Error {
  override name = 'InvalidProvider'
  /** The field at fault, as the API and the file of providers name it. */
  readonly param: string
  /** What is wrong with it: one sentence that does not repeat the name. */
  readonly detail: string

  constructor(id: string, param: string, detail: string) {
    super(`Provider "${id}", ${param}: ${detail}`)
    this.param = param
    this.detail = detail
  }
}

/** The host (and port, unless 443) of an added provider's origin. */
function hostOf(custom: CustomProvider): string {
  const url = URL.canParse(custom.origin) ? new URL(custom.origin) : null
  if (
    !url ||
    url.protocol !== 'https:' ||
    url.pathname !== '/' ||
    url.search !== '' ||
    url.hash !== '' ||
    url.username !== '' ||
    url.password !== ''
  ) {
    throw new InvalidProvider(
      custom.id,
      'origin',
      'Must be what callers name, https://host or https://host:port. Where to dial goes into "dial".',
    )
  }
  return url.host
}

function readDial(address: string, id: string): DialAddress {
  const url = dialled.parse(address)
  if (url === undefined) throw new InvalidProvider(id, 'dial', `Must be ${dialled.what}.`)
  return { origin: url.origin, basePath: url.pathname.replace(/\/+$/, '') }
}

/** The name of a header, or a word that stands in one (RFC 9110, section 5.6.2). */
const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/
/** Headers that a credential cannot stand in. */
const FRAMING = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'keep-alive',
])

/** A row as an added provider, or one that changes it, is authenticated. */
function authenticated(row: ProviderRow, { id, auth }: CustomProvider): ProviderRow {
  if (auth === undefined) return row
  if (!TOKEN.test(auth.header))
    throw new InvalidProvider(id, 'auth.header', 'Must be the name of a header, such as X-Api-Key.')
  if (FRAMING.has(auth.header.toLowerCase()))
    throw new InvalidProvider(
      id,
      'auth.header',
      `Cannot be ${auth.header}, which says how the request is sent. Choose another header.`,
    )
  if (auth.scheme !== undefined && !TOKEN.test(auth.scheme))
    throw new InvalidProvider(id, 'auth.scheme', 'Must be one word, such as Bearer.')
  return { ...row, auth }
}

/** The names of the values that a provider's host patterns need: a credential must bring each. */
export const hostValues = ({ hosts }: Pick<ProviderRow, 'hosts'>): string[] => [
  ...new Set(hosts.flatMap((pattern) => pattern.match(/(?<=\{)\w+(?=\})/g) ?? [])),
]

/**
 * A host pattern filled with every set of values that is known; a pattern without values is one
 * host.
 */
function hosts(
  pattern: string,
  instances: readonly Readonly<Record<string, string>>[],
): { host: string; instance: Readonly<Record<string, string>> }[] {
  if (!pattern.includes('{')) return [{ host: pattern, instance: {} }]
  return instances.flatMap((values) => {
    let complete = true
    const host = pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const value = values[name]?.toLowerCase() ?? ''
      // Nothing else, so that a setting cannot name another host.
      if (!HOST_PART.test(value)) complete = false
      return value
    })
    return complete ? [{ host, instance: values }] : []
  })
}

const domainOf = (hostname: string): string => hostname.toLowerCase().split('.').slice(-2).join('.')
const withPort = (host: string): string => (/:\d+$/.test(host) ? host : `${host}:443`)
