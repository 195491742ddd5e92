// Makes the rows of providers that the operator adds, and of built-in ones that the operator
// changes.
import { dialled } from '../../config/setting-kinds.ts'
import type { BodyRule } from './body-rule.ts'
import { belowAnyPath, withAdded } from './added-endpoints.ts'
import { atGateway } from './gateway-rules.ts'
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
 * @param custom without `providerFaults`
 */
export function addedRow(custom: CustomProvider): ProviderRow {
  const host = hostOf(custom)
  const row = spokenRow(custom, host) ?? builtInRowFor(custom, host) ?? customRow(custom)
  return withAdded({ ...row, ...authOf(custom), hosts: [host] }, custom)
}

/** A built-in row with the operator's changes. @param custom without `providerFaults` */
export function changedRow(row: ProviderRow, custom: CustomProvider): ProviderRow {
  const host = hostOf(custom)
  const changed = { ...rowAt(row, host), auth: row.auth, ...authOf(custom), hosts: [host] }
  return withAdded(changed, custom)
}

const authOf = ({ auth }: CustomProvider): Partial<ProviderRow> =>
  auth === undefined ? {} : { auth }

/**
 * The row of the built-in provider whose API an added one implements, below any path; undefined if
 * it names none.
 */
function spokenRow({ id, origin, speaks }: CustomProvider, host: string): ProviderRow | undefined {
  if (speaks === undefined) return undefined
  const row = PROVIDERS.find((one) => one.id === speaks)
  if (row === undefined) throw new Error(`there is no built-in provider ${speaks}`)
  const { sites: _, elsewhere: __, ...main } = row
  const { pathname } = new URL(row.base.replaceAll(/\{\w+\}/g, 'x'))
  return {
    ...main,
    id,
    name: id,
    base: `${origin}${pathname === '/' ? '' : pathname}`,
    hosts: [host],
    endpoints: belowAnyPath(row.endpoints.map(atGateway)),
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

/** The tools of a gateway may name other models, too. */
const GATEWAY_BODY: Partial<BodyRule> = {
  also: [...(BODY.also ?? []), 'tools[].parameters.model'],
  tools: toolsIn('', GATEWAY_TOOLS),
}

/** An added provider: a server that speaks OpenAI's dialect below any path. */
const COMPATIBLE = ['', '/{base*}'].flatMap((prefix) =>
  [...compatibleRows(prefix, GATEWAY_BODY), ...videoRows(prefix)].map(atGateway),
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

/** A fault of an added provider. */
export interface ProviderFault {
  readonly id: string
  /** The invalid field, by its name in the API and the providers file. */
  readonly param: string
  /** What is wrong with it, in one sentence that does not repeat the name. */
  readonly detail: string
}

/** Added providers that no table can have. Its message has a line for each fault. */
export class InvalidProvider extends Error {
  override name = 'InvalidProvider'
  readonly faults: readonly ProviderFault[]

  constructor(...faults: readonly ProviderFault[]) {
    super(faults.map(({ id, param, detail }) => `Provider "${id}", ${param}: ${detail}`).join('\n'))
    this.faults = faults
  }
}

/** All that is wrong with an added or changed provider on its own. */
export function providerFaults({
  id,
  origin,
  dial,
  speaks,
  auth,
}: CustomProvider): ProviderFault[] {
  const details = {
    origin: originFault(origin),
    dial: dial !== undefined && dialled.parse(dial) === undefined && `Must be ${dialled.what}.`,
    speaks:
      speaks !== undefined &&
      !PROVIDERS.some((one) => one.id === speaks) &&
      `There is no built-in provider "${speaks}". Choose from ${PROVIDERS.map((one) => one.id).join(', ')}.`,
    'auth.header': auth !== undefined && headerFault(auth.header),
    'auth.scheme':
      auth?.scheme !== undefined && !TOKEN.test(auth.scheme) && 'Must be one word, such as Bearer.',
  }
  return Object.entries(details).flatMap(([param, detail]) =>
    detail === false ? [] : [{ id, param, detail }],
  )
}

function originFault(origin: string): string | false {
  const url = URL.canParse(origin) ? new URL(origin) : null
  const isGood =
    url?.protocol === 'https:' &&
    // Built-in rows have patterns of hosts; an operator names each host.
    !url.hostname.includes('*') &&
    url.pathname === '/' &&
    url.search === '' &&
    url.hash === '' &&
    url.username === '' &&
    url.password === ''
  return (
    !isGood &&
    'Must be the address that callers use, https://host or https://host:port. Put the address to connect to into "dial".'
  )
}

/** The host (and port, unless 443) of an added provider's origin. */
const hostOf = ({ origin }: CustomProvider): string => new URL(origin).host

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

function headerFault(header: string): string | false {
  if (!TOKEN.test(header)) return 'Must be the name of a header, such as X-Api-Key.'
  return (
    FRAMING.has(header.toLowerCase()) &&
    `Cannot be ${header}, which says how the request is sent. Choose another header.`
  )
}
