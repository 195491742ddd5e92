// Shuts a server down in order: readiness, new connections, requests in progress, open resources.
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunningServer } from '../http1/listen.ts'

/** How to shut down. */
export interface ShutdownOptions {
  /** Milliseconds for which requests are still accepted while `/readyz` is 503; default 0. */
  readonly drainMs?: number
  /** Ends the drain, and destroys the connections of requests in progress. */
  readonly force?: AbortSignal
}

/** The parts to shut down. */
export interface ShutdownParts {
  readonly readiness: { stop(): void }
  readonly listening: RunningServer
  /** Requeues the job in progress when disposed of; undefined if the process runs no jobs. */
  readonly worker: AsyncDisposable | undefined
  /** Ends event streams, which do not end on their own. */
  readonly endStreams: (() => void) | undefined
  /** Milliseconds that requests in progress have to end. */
  readonly shutdownTimeout: number
  /** Everything opened at the start. */
  readonly opened: AsyncDisposableStack
}

/** Creates the function that shuts a server down. Every call returns the same promise. */
export function createShutdown(parts: ShutdownParts): (options?: ShutdownOptions) => Promise<void> {
  let ending: Promise<void> | undefined
  return (options = {}) => (ending ??= shutDown(parts, options))
}

async function shutDown(
  { readiness, listening, worker, endStreams, shutdownTimeout, opened }: ShutdownParts,
  { drainMs = 0, force }: ShutdownOptions,
): Promise<void> {
  readiness.stop()
  listening.closeAfterResponses()
  // First, so that another process can claim the job while this one drains.
  const handedBack = worker?.[Symbol.asyncDispose]()
  await pause(drainMs, force)
  endStreams?.()
  const idleMs = drainMs > 0 ? IDLE_CONNECTIONS_MS : 0
  await listening.close({
    graceMs: shutdownTimeout,
    idleMs,
    ...(force === undefined ? {} : { force }),
  })
  await handedBack
  await opened.disposeAsync()
}

/**
 * How long idle connections stay open after a drain (milliseconds). A balancer without health
 * checks learns from refused new connections that this server is down, and stops using the idle
 * ones.
 */
const IDLE_CONNECTIONS_MS = 1_000

/** Resolves after a time, or when `signal` aborts. */
function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return sleep(milliseconds, undefined, signal === undefined ? {} : { signal }).catch(() => {})
}
