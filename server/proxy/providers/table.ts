// The provider table: built-in rows, the operator's changes and additions, and the one lookup that
// decides which address may be called.
import { dialled } from '../../config/setting-kinds.ts'
import { addedRow, changedRow, InvalidProvider, providerFaults } from './added-provider.ts'
import { compileProvider } from './compile-provider.ts'
import { exactHosts, hostFamily, type HostFamily } from './host-patterns.ts'
import type { CustomProvider, DialAddress, Provider, ProviderRow, Upstream } from './provider.ts'
import { PROVIDERS } from './rows/index.ts'

/**
 * All providers at one time; immutable. A change to the settings or the store creates a new table.
 */
export interface ProviderTable {
  /** Every provider, built-in and added. */
  readonly providers: readonly Provider[]
  byId(id: string): Provider | undefined
  /** Every address that may be called. */
  readonly upstreams: readonly Upstream[]
  /** The provider of this address; null: it may not be called. */
  find(hostname: string, port: number): Upstream | null
  /**
   * A provider in the same domain as a host, or null: its error format is used to refuse an unknown
   * address.
   */
  findByDomain(hostname: string): Provider | null
}

/** The operator's changes and additions. */
export interface TableSettings {
  /** The dialled addresses, by provider id: `TOLLMARK_UPSTREAM_<ID>`. */
  readonly overrides?: Readonly<Record<string, string>>
  /** Providers of `TOLLMARK_PROVIDERS`. */
  readonly custom?: readonly CustomProvider[]
  /**
   * The values of host patterns in stored credentials: `{ provider: 'azure', values: { resource:
   * 'acme' } }`.
   */
  readonly instances?: readonly {
    readonly provider: string
    readonly values: Readonly<Record<string, string>>
  }[]
}

/** A family of hosts, and its provider. */
interface Family extends HostFamily {
  readonly provider: Provider
  readonly dial: string | undefined
}

/**
 * Builds the table. Throws an Error with a line for each fault if settings are invalid. Call it
 * again when a credential with another resource or region is stored; it takes about a millisecond.
 */
export function createProviderTable(settings: TableSettings = {}): ProviderTable {
  const faults = (settings.custom ?? []).flatMap(providerFaults)
  if (faults.length > 0) throw new InvalidProvider(...faults)
  const table = new TableBuilder(settings)
  const changed = new Map((settings.custom ?? []).map((custom) => [custom.id, custom]))
  for (const row of PROVIDERS) {
    const custom = changed.get(row.id)
    table.add(custom === undefined ? row : changedRow(row, custom), custom?.dial)
  }
  for (const custom of changed.values()) {
    if (table.byId.has(custom.id)) continue
    const row = addedRow(custom)
    const [host = ''] = row.hosts
    const taken = table.byHost.get(withPort(host))?.provider.id
    if (taken !== undefined && changed.has(taken))
      throw new InvalidProvider({
        id: custom.id,
        param: 'origin',
        detail: `Names the host ${host}, and so does "${taken}".`,
      })
    table.add(row, custom.dial ?? custom.origin)
  }
  return table.build()
}

class TableBuilder {
  readonly byId = new Map<string, Provider>()
  readonly byHost = new Map<string, Upstream>()
  readonly #families: Family[] = []
  /** The usual address of a provider that has only families of hosts. */
  readonly #bases: Upstream[] = []
  readonly #settings: TableSettings

  constructor(settings: TableSettings) {
    this.#settings = settings
  }

  /**
   * Adds a provider at all of its hosts. @param dial where it is dialled, unless a setting
   * overrides it
   */
  add(row: ProviderRow, dial: string | undefined): void {
    const main = compileProvider(row)
    this.byId.set(row.id, main)
    const { hostname } = new URL(row.base.replaceAll(/\{\w+\}/g, 'x'))
    const isFamily = row.hosts.every((pattern) => hostFamily(pattern) !== null)
    if (isFamily) this.#bases.push(upstreamAt(main, hostname, this.#dialOf(row.id, dial), {}))
    for (const provider of [main, ...(row.sites ?? []).map((site) => compileProvider(row, site))])
      for (const pattern of provider.hosts) this.#addHosts(provider, pattern, dial)
  }

  #dialOf(id: string, usual: string | undefined): string | undefined {
    return this.#settings.overrides?.[id] ?? usual
  }

  #addHosts(provider: Provider, pattern: string, usual: string | undefined): void {
    const { instances = [] } = this.#settings
    const dial = this.#dialOf(provider.id, usual)
    const family = hostFamily(pattern)
    if (family !== null) this.#families.push({ ...family, provider, dial })
    const values = instances
      .filter((instance) => instance.provider === provider.id)
      .map((instance) => instance.values)
    for (const { host, instance } of exactHosts(pattern, values))
      this.byHost.set(withPort(host), upstreamAt(provider, host, dial, instance))
  }

  build(): ProviderTable {
    const { byId, byHost } = this
    const families = this.#families
    const byDomain = new Map(
      [...byHost.values()].map(({ origin, provider }) => [
        domainOf(new URL(origin).hostname),
        provider,
      ]),
    )
    return {
      providers: [...byId.values()],
      byId: (id) => byId.get(id),
      upstreams: [...byHost.values(), ...this.#bases],
      find: (hostname, port) =>
        byHost.get(`${hostname}:${port}`) ?? (port === 443 ? findIn(families, hostname) : null),
      findByDomain: (hostname) => byDomain.get(domainOf(hostname)) ?? null,
    }
  }
}

function findIn(families: readonly Family[], hostname: string): Upstream | null {
  for (const { provider, dial, partsOf } of families) {
    const hostParts = partsOf(hostname)
    if (hostParts !== null) return { ...upstreamAt(provider, hostname, dial, {}), hostParts }
  }
  return null
}

function upstreamAt(
  provider: Provider,
  host: string,
  dial: string | undefined,
  instance: Upstream['instance'],
): Upstream {
  const origin = `https://${host}`
  return { provider, origin, dial: readDial(dial ?? origin, provider.id), instance }
}

function readDial(address: string, id: string): DialAddress {
  const url = dialled.parse(address)
  if (url === undefined)
    throw new InvalidProvider({ id, param: 'dial', detail: `Must be ${dialled.what}.` })
  return { origin: url.origin, basePath: url.pathname.replace(/\/+$/, '') }
}

const domainOf = (hostname: string): string => hostname.toLowerCase().split('.').slice(-2).join('.')
const withPort = (host: string): string => (/:\d+$/.test(host) ? host : `${host}:443`)
