// Runs the server as a process: reads the settings, starts, and stops at a signal.
import { setTimeout as sleep } from 'node:timers/promises'
import { isLoopback } from '../http1/listen.ts'
import { SetupError } from '../common/errors.ts'
import { countBuffersTowardHeapLimit } from '../common/external-memory.ts'
import { openLog, type Log } from '../common/log.ts'
import { openLogSink } from '../common/log-sink.ts'
import { freeMemoryWhenIdle } from '../common/idle-memory.ts'
import { environment, readConfig, unknownSettings, type Config } from '../config/settings.ts'
import { sqlitePath } from '../store/open.ts'
import { removeScratchFolders } from '../store/scratch.ts'
import { transientProblem } from '../store/transient-errors.ts'
import { openStoreBySettings } from './open-store.ts'
import type { Running, ServeOptions } from './serve.ts'
import { exitCodeOf, handleStopSignals, type StopSignal, type StopSignals } from './signals.ts'

/** Options of the process besides its settings. */
interface MainOptions {
  /**
   * Starts a build of the dashboard; null if none is needed. A worker, which has no pages, does
   * not.
   */
  readonly buildDashboard?: () => Promise<unknown> | null
  /** Whether start messages are JSON, one per line. */
  readonly json?: boolean
}

/** What the start says to the person at the terminal, and the same as JSON. */
type Line = [sentence: string, fields: Readonly<Record<string, string>>]

/**
 * Runs the server until SIGTERM, SIGINT or SIGHUP; resolves when everything is closed. A second
 * signal ends the process at once.
 *
 * @param over settings that win over the environment
 * @throws SetupError
 */
export async function main(
  over: Readonly<Record<string, string>> = {},
  { json = false, buildDashboard = () => null }: MainOptions = {},
): Promise<void> {
  const env = { ...environment(process.cwd()), ...over }
  const config = readConfig(env)
  const sink = openLogSink(1)
  process.on('exit', sink.flush)
  process.on('exit', removeScratchFolders)
  const log = openLog(config.server.logLevel, sink)
  for (const unknown of unknownSettings(env, config.customProviders))
    log.warn('unknown setting', unknown)
  const signals = handleStopSignals()
  // Everything in one call, so that no line of the log stands between.
  const write = (...lines: Line[]): void =>
    void process.stderr.write(
      lines.map(([sentence, fields]) => `${json ? JSON.stringify(fields) : sentence}\n`).join(''),
    )
  const running = await startUnlessStopped(config, log, signals, {
    dashboardBuilt: config.server.role === 'worker' ? null : buildDashboard(),
    onWaiting: (url, error) => {
      const reason = error instanceof Error ? error.message : String(error)
      write([
        `Tollmark is waiting for its database at ${url}\n${reason}`,
        { waiting_at: url, reason },
      ])
    },
  })
  log.info('listening', { url: running.url, role: config.server.role })
  if (!isLoopback(config.server.host))
    log.warn(
      'the server is reachable from other machines; put a reverse proxy with TLS in front of it',
    )
  const { url, setupLink } = running
  const found: Line[] = [[`Tollmark is at ${url}`, { url }]]
  if (setupLink !== null)
    found.push([
      `Open this link once to create the first account:\n${setupLink}`,
      { setup_url: setupLink },
    ])
  write(...found)
  // Threads load faster before this (thread-heaps.ts).
  countBuffersTowardHeapLimit()
  freeMemoryWhenIdle()
  await shutDownOn(signals, running, config, log)
}

/**
 * Starts the server. A signal before it has started ends the process: with 0 if it already listened
 * and waited for its database, otherwise with 128 + the signal's number, because the start was
 * interrupted.
 */
async function startUnlessStopped(
  config: Config,
  log: Log,
  { first }: StopSignals,
  { onWaiting, ...options }: ServeOptions,
): Promise<Running> {
  const stopping = new AbortController()
  let isWaiting = false
  const started = load(config, log, {
    ...options,
    signal: stopping.signal,
    onWaiting: (url, error) => {
      isWaiting = true
      onWaiting?.(url, error)
    },
  }).catch(shortError)
  const result = await Promise.race([first, started])
  if (typeof result !== 'string') return result
  stopping.abort()
  log.info('shutting down', { signal: result, drain_ms: 0 })
  // Closes what has been opened; no request has been accepted.
  const closed = started.then(
    (running) => running.shutDown(),
    () => {},
  )
  await Promise.race([closed, sleep(CLOSE_MS)])
  process.exit(isWaiting ? 0 : exitCodeOf(result))
}

/** Loads the server and starts it. Meanwhile a SQLite file is opened, by its own thread. */
async function load(config: Config, log: Log, options: ServeOptions): Promise<Running> {
  const { storage } = config
  const opening =
    sqlitePath(storage) === null ? undefined : openStoreBySettings(storage, log, Date.now())
  // Until `serve` waits for it.
  const opened = opening?.catch(() => null)
  try {
    const { serve } = await import('./serve.ts')
    return await serve(config, log, { ...options, opening })
  } catch (error) {
    await (await opened)?.close()
    throw error
  }
}

/** The store may go down during startup. That is no bug, so print no stack. */
function shortError(error: unknown): never {
  const trouble = transientProblem(error)
  throw trouble
    ? new SetupError(`The server cannot start. ${trouble.detail}`, { cause: error })
    : error
}

/**
 * Time for settling the ledger, requeuing a job and closing the store, after the requests have
 * ended or a second signal has arrived (milliseconds).
 */
const CLOSE_MS = 3_000
const FORCED_CLOSE_MS = 1_000

/**
 * Shuts down at the first signal. Even if a part hangs, the process ends after the drain, the
 * shutdown timeout and `CLOSE_MS`, or after a second signal within `FORCED_CLOSE_MS`.
 */
async function shutDownOn(
  { first, second }: StopSignals,
  running: Running,
  config: Config,
  log: Log,
): Promise<void> {
  const signal = await first
  const drainMs = signal === 'SIGTERM' ? drainOf(config) : 0
  log.info('shutting down', { signal, drain_ms: drainMs })
  const finish = (code: number): void => {
    log.error(
      'the shutdown took too long',
      new Error('some requests or jobs may not be recorded as ended'),
    )
    running.abandon()
    process.exit(code)
  }
  // The stop was requested, so exit with 0 even if it takes too long.
  setTimeout(() => finish(0), drainMs + config.server.shutdownTimeout + CLOSE_MS)
  const forced = (): void => {
    log.warn('second signal: exiting now', { signal: String(second.reason) })
    setTimeout(() => finish(exitCodeOf(second.reason as StopSignal)), FORCED_CLOSE_MS)
  }
  second.addEventListener('abort', forced)
  if (second.aborted) forced()
  await running.shutDown({ drainMs, force: second })
  // Exit even if a library left a handle open.
  process.exit(second.aborted ? exitCodeOf(second.reason as StopSignal) : 0)
}

/** Milliseconds between SIGTERM and the end of accepting. */
function drainOf({ server, storage }: Config): number {
  const isBalanced =
    server.role !== 'worker' && storage.databaseUrl?.protocol.startsWith('postgres')
  return server.drain ?? (isBalanced === true ? BALANCED_DRAIN_MS : 0)
}

/** Longer than twice the health interval in deploy/Caddyfile. */
const BALANCED_DRAIN_MS = 5_000
