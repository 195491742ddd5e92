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
  // First, so that another process can claim the job while this one drains.
  const handedBack = worker?.[Symbol.asyncDispose]()
  await pause(drainMs, force)
  endStreams?.()
  await listening.close({
    graceMs: shutdownTimeout,
    idleMs: Math.min(drainMs, IDLE_CONNECTIONS_MS),
    ...(force === undefined ? {} : { force }),
  })
  await handedBack
  await opened.disposeAsync()
}

/**
 * How long an idle connection stays open after a drain (milliseconds): longer than the 4 s for
 * which deploy/nginx.conf keeps its own, which closes them first. nginx checks no `/readyz`: it
 * learns from refused connections that this server is down.
 */
const IDLE_CONNECTIONS_MS = 5_000

/** Resolves after a time, or when `signal` aborts. */
function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return sleep(milliseconds, undefined, signal === undefined ? {} : { signal }).catch(() => {})
}
