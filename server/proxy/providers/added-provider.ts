// Makes the rows of providers that the operator adds, and of built-in ones that the operator
// changes.
import type { BodyRule } from './endpoint-row.ts'
import { belowAnyPath, withAdded } from './added-endpoints.ts'
import { isOneOf } from './host-patterns.ts'
import { OPENAI_PREFIXES } from './id-spelling.ts'
import { BODY, toolsIn } from './body-rules.ts'
import { compatibleRows, OPENAI_ADMIN, videoRows } from './openai-rows.ts'
import type { CustomProvider, ProviderRow } from './provider.ts'
import { PROVIDERS } from './rows/index.ts'
import { GATEWAY_TOOLS } from './tools.ts'

/**
 * The row of an added provider: that of the built-in provider with its host, else that of a server
 * with OpenAI's dialect.
 *
 * @throws InvalidProvider
 */
export function addedRow(custom: CustomProvider): ProviderRow {
  const host = hostOf(custom)
  const row = spokenRow(custom, host) ?? builtInRowFor(custom, host) ?? customRow(custom)
  return authenticated(withAdded({ ...row, hosts: [host] }, custom), custom)
}

/** A built-in row with the operator's changes. @throws InvalidProvider */
export function changedRow(row: ProviderRow, custom: CustomProvider): ProviderRow {
  const host = hostOf(custom)
  const changed = { ...rowAt(row, host), auth: row.auth, hosts: [host] }
  return authenticated(withAdded(changed, custom), custom)
}

/**
 * The row of the built-in provider whose API an added one implements, below any path; undefined if
 * it names none.
 */
function spokenRow({ id, origin, speaks }: CustomProvider, host: string): ProviderRow | undefined {
  if (speaks === undefined) return undefined
  const row = PROVIDERS.find((one) => one.id === speaks)
  if (row === undefined)
    throw new InvalidProvider(
      id,
      'speaks',
      `There is no built-in provider "${speaks}". Choose from ${PROVIDERS.map((one) => one.id).join(', ')}.`,
    )
  const { sites: _, elsewhere: __, ...main } = row
  const { pathname } = new URL(row.base.replaceAll(/\{\w+\}/g, 'x'))
  return {
    ...main,
    id,
    name: id,
    base: `${origin}${pathname === '/' ? '' : pathname}`,
    hosts: [host],
    endpoints: belowAnyPath(row.endpoints),
    anyIds: true,
  }
}

/**
 * The built-in row of an added provider's host (another region of it, or another credential for
 * it): its endpoints, including closed ones, are the same there. Undefined if the host belongs to
 * no built-in provider.
 */
function builtInRowFor({ id }: CustomProvider, host: string): ProviderRow | undefined {
  const row = PROVIDERS.find(
    ({ hosts, elsewhere, sites = [] }) =>
      isOneOf(host, hosts) ||
      isOneOf(host, elsewhere?.hosts ?? []) ||
      sites.some((site) => isOneOf(host, site.hosts)),
  )
  return row && { ...rowAt(row, host), id, name: id }
}

/** A row with the differences for a host of another site, if it is one. */
function rowAt(row: ProviderRow, host: string): ProviderRow {
  const site = row.sites?.find(({ hosts }) => isOneOf(host, hosts))
  const { sites: _, ...main } = row
  if (site !== undefined) return { ...main, ...site }
  return isOneOf(host, row.elsewhere?.hosts ?? []) ? { ...main, ...row.elsewhere } : main
}

/**
 * An added provider may be a gateway, which can be told to run other models: LiteLLM by any of
 * these (docs.litellm.ai/docs/proxy/client_side_fallbacks, …/reliability), and `extra_body` may be
 * put over the body.
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
const customRow = (custom: CustomProvider): ProviderRow => ({
  id: custom.id,
  name: custom.id,
  variable: '',
  base: custom.origin,
  hosts: [],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  endpoints: COMPATIBLE,
  anyIds: true,
  // A gateway may have access to the operator's clouds.
  spelling: { prefixes: OPENAI_PREFIXES, uuids: true, clouds: true },
  admin: OPENAI_ADMIN,
  errors: 'openai',
  usage: 'openai',
})

/** An added provider that conflicts with the table. */
export class InvalidProvider extends Error {
  override name = 'InvalidProvider'
  /** The invalid field, by its name in the API and the providers file. */
  readonly param: string
  /** What is wrong with it, in one sentence that does not repeat the name. */
  readonly detail: string

  constructor(id: string, param: string, detail: string) {
    super(`Provider "${id}", ${param}: ${detail}`)
    this.param = param
    this.detail = detail
  }
}

/** The host (and port, unless 443) of an added provider's origin. */
export function hostOf(custom: CustomProvider): string {
  const url = URL.canParse(custom.origin) ? new URL(custom.origin) : null
  if (
    !url ||
    url.protocol !== 'https:' ||
    // Built-in rows have patterns of hosts; an operator names each host.
    url.hostname.includes('*') ||
    url.pathname !== '/' ||
    url.search !== '' ||
    url.hash !== '' ||
    url.username !== '' ||
    url.password !== ''
  ) {
    throw new InvalidProvider(
      custom.id,
      'origin',
      'Must be the address that callers use, https://host or https://host:port. Put the address to connect to into "dial".',
    )
  }
  return url.host
}

/** A header's name, or a scheme (a token, RFC 9110, section 5.6.2). */
const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/
/** Headers that cannot carry a credential. */
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

/** A row with the authentication of an added or changed provider. */
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
