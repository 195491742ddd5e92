// A pool of a few connections to PostgreSQL, with a time limit for every statement.
import { Client, Pool, types, type ClientBase, type PoolClient, type PoolConfig } from 'pg'
import { StoreError } from '../store-error.ts'
import type { SqlValue, Statement, StatementResult } from '../statement.ts'
import { storeError } from './error.ts'

/**
 * Transactions that may wait for a connection. More mean that the database cannot keep up:
 * rejecting them is better than an unbounded queue.
 */
const WAITING = 20_000
/** How long a transaction may wait for a connection, and connecting may take (milliseconds). */
const CONNECT = 2_000
/** Extra time for the network, in addition to the server's limit (milliseconds). */
const TRANSIT = 500
/** How long an unused connection is kept (milliseconds). */
const IDLE = 30_000

/** A connection while a transaction runs on it. */
export interface Session {
  /** @throws DatabaseError from PostgreSQL; any other error means that the connection is lost */
  execute(statement: Statement): Promise<StatementResult>
  /**
   * Runs one or more SQL statements without parameters in one round trip; resolves to the command
   * of the last one.
   */
  command(sql: string): Promise<string>
}

/** The connections of this process to one database. */
export interface Connections {
  /**
   * Runs `work` on a connection. Its errors pass through. @throws StoreError `busy`, `unavailable`,
   * `closed`
   */
  use<R>(work: (session: Session) => Promise<R>): Promise<R>
  /** Resolves when every open transaction has ended. */
  close(): Promise<void>
}

/** Options of a pool. */
export interface ConnectionOptions {
  url: URL
  /** Name of this process on its connections; triggers send it to the others. */
  name: string
  /** Maximum number of connections. */
  most: number
  /** How long one statement may run, including waits for locks (milliseconds). */
  patience: number
}

/** Counts and times are below 2⁵³, and their sums are `numeric`: all are parsed as numbers. */
const NUMBERS: ReadonlySet<number> = new Set([types.builtins.INT8, types.builtins.NUMERIC])
const TYPES: PoolConfig['types'] = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    NUMBERS.has(oid) ? Number : types.getTypeParser(oid, format)) as typeof types.getTypeParser,
}

/** The settings of each of our connections. */
export function connectionConfig(url: URL): PoolConfig {
  return {
    connectionString: explicitTls(url),
    types: TYPES,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT,
  }
}

/**
 * The address with the mode that `pg` uses for these three, which it explains in nine lines on
 * standard error whenever it reads one of them.
 */
function explicitTls(url: URL): string {
  const explicit = new URL(url)
  const { searchParams } = explicit
  const mode = searchParams.get('sslmode') ?? ''
  if (['prefer', 'require', 'verify-ca'].includes(mode) && !searchParams.has('uselibpqcompat'))
    searchParams.set('sslmode', 'verify-full')
  return explicit.href
}

/** Opens a pool; it connects on demand. */
export function openConnections(options: ConnectionOptions): Connections {
  return new ConnectionPool(options)
}

class ConnectionPool implements Connections {
  readonly #pool: Pool
  readonly #options: ConnectionOptions
  /** Transactions that run or wait for a connection. */
  #open = 0
  #closing: Promise<void> | undefined
  #onIdle: (() => void) | undefined

  constructor(options: ConnectionOptions) {
    const { url, name, most, patience } = options
    // Statements here are short: compiling one (jit) would take longer than running it.
    const settings = `set application_name = '${name}'; set synchronous_commit = on; set jit = off; set statement_timeout = ${patience}; set idle_in_transaction_session_timeout = ${10 * patience}`
    const prepare = async (client: ClientBase): Promise<void> => {
      // the user of the connection gets the error too; without a listener, the process would end
      client.on('error', () => {})
      // The pool limits only the time before this; ending the client makes the query fail.
      const cut = setTimeout(() => client instanceof Client && void client.end(), CONNECT)
      await client.query(settings).finally(() => clearTimeout(cut))
    }
    this.#options = options
    this.#pool = new Pool({
      ...connectionConfig(url),
      max: most,
      idleTimeoutMillis: IDLE,
      // oxlint-disable-next-line typescript/no-misused-promises -- pg waits for it; its types do not say so
      onConnect: prepare,
    })
    // an unused connection was lost: the next transaction gets a new one
    this.#pool.on('error', () => {})
  }

  async use<R>(work: (session: Session) => Promise<R>): Promise<R> {
    this.#open++
    try {
      const session = new ClientSession(await this.#acquire(), this.#options.patience)
      try {
        return await work(session)
      } finally {
        session.end()
      }
    } finally {
      if (--this.#open === 0) this.#onIdle?.()
    }
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#end())
  }

  async #acquire(): Promise<PoolClient> {
    if (this.#closing) throw new StoreError('closed', 'the database is closed')
    if (this.#pool.waitingCount >= WAITING)
      throw new StoreError('busy', 'too many transactions wait for a connection to the database')
    const crowded = this.#pool.totalCount >= this.#options.most
    try {
      return await this.#pool.connect()
    } catch (thrown) {
      if (crowded && thrown instanceof Error && thrown.message.startsWith('timeout exceeded'))
        throw new StoreError('busy', 'no connection to the database became free in time')
      throw storeError(thrown)
    }
  }

  async #end(): Promise<void> {
    if (this.#open > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve))
    await this.#pool.end()
  }
}

/** A connection that has been taken from the pool. */
class ClientSession implements Session {
  readonly #client: PoolClient
  readonly #patience: number
  #lost = false
  #released = false

  constructor(client: PoolClient, patience: number) {
    this.#client = client
    this.#patience = patience
  }

  execute({ sql, parameters }: Statement): Promise<StatementResult> {
    return this.#guarded(async () => {
      const { rows, rowCount } = await this.#client.query(sql, parameters.map(storable))
      return { rows, affected: rowCount ?? 0 }
    })
  }

  command(sql: string): Promise<string> {
    return this.#guarded(async () => {
      const results: unknown = await this.#client.query(sql)
      // a list where there are several statements
      return ([results].flat().at(-1) as { command: string }).command
    })
  }

  /** Releases the connection, or closes it if it was lost. */
  end(): void {
    this.#release(this.#lost)
  }

  #release(broken: boolean): void {
    if (!this.#released) this.#client.release(broken)
    this.#released = true
  }

  async #guarded<V>(query: () => Promise<V>): Promise<V> {
    if (this.#released) throw new StoreError('unavailable', 'the database did not answer in time')
    // For a frozen server, or a network that drops everything, only our own timer helps.
    const cut = setTimeout(() => this.#release(true), this.#patience + TRANSIT)
    try {
      return await query()
    } catch (thrown) {
      this.#lost ||= isLost(thrown)
      throw thrown
    } finally {
      clearTimeout(cut)
    }
  }
}

/**
 * Whether an error means that the connection is unusable: every error except the server's own about
 * a statement.
 */
function isLost(thrown: unknown): boolean {
  const state =
    typeof thrown === 'object' && thrown !== null && 'severity' in thrown && 'code' in thrown
      ? String(thrown.code)
      : ''
  return state === '' || state.startsWith('57P') || state.startsWith('08')
}

/**
 * PostgreSQL's text cannot contain NUL. The driver encodes everything else, and turns lists into
 * arrays.
 */
function storable(value: SqlValue): SqlValue {
  return typeof value === 'string' && value.includes('\0')
    ? value.replaceAll('\0', '\ufffd')
    : value
}
