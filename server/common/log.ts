// The structured log: one JSON object per line. A request's line has fields of a fixed list only,
// so no secret, query string or body can reach it by accident.
import { pino, type DestinationStream, type Logger } from 'pino'
import { withoutSecrets } from './issued-secrets.ts'
import type { Tokens } from './token-kinds.ts'

/** One request, for the log, metrics and traces. Only FIELDS reach the log. */
export interface RequestLine extends Partial<Tokens> {
  request_id: string
  method: string
  /**
   * The route's pattern (`/api/v1/tokens/:id`), never the requested path; `/*` is the dashboard's;
   * null if no route matched.
   */
  route: string | null
  status: number
  duration_ms: number
  account_id?: string | undefined
  /** Id of the API token or proxy key, never its secret. */
  token_id?: string | undefined
  /** Code of the error in the response. */
  code?: string | undefined
  bytes_in?: number | undefined
  bytes_out?: number | undefined
  /** The proxy's fields. */
  provider?: string | undefined
  model?: string | undefined
  /** The pattern of the provider's endpoint. */
  endpoint?: string | undefined
  first_byte_ms?: number | undefined
  /** The caller left before the response was complete. */
  aborted?: boolean | undefined
  /** The caller's position in a trace (W3C Trace Context). Used only for traces, never logged. */
  traceparent?: string | undefined
}

/** Writes the log. One per process; safe to share. */
export interface Log {
  request(line: RequestLine): void
  /** Something that an operator should know; `fields` are ours, never a caller's. */
  info(sentence: string, fields?: Record<string, string | number | boolean>): void
  warn(sentence: string, fields?: Record<string, string | number | boolean>): void
  /** A failure, with the error that caused it (name, message, stack). */
  error(sentence: string, error: unknown, fields?: Record<string, string | number | boolean>): void
}

/** TABLE of the fields that a request's line may have, in their order. */
const FIELDS = [
  'request_id',
  'method',
  'route',
  'status',
  'duration_ms',
  'account_id',
  'token_id',
  'code',
  'bytes_in',
  'bytes_out',
  'provider',
  'model',
  'aborted',
] as const satisfies (keyof RequestLine)[]

const SILENT: DestinationStream = { write: () => {} }

/**
 * Opens the log.
 *
 * @param level the lowest level that is written, or `silent`
 * @param destination receives the lines; none by default
 */
export function openLog(level: string, destination: DestinationStream = SILENT): Log {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  }
  const out: Logger = pino(options, destination)
  return {
    request: (line) => {
      const level = line.status >= 500 ? 'error' : 'info'
      if (!out.isLevelEnabled(level)) return
      const allowed: Record<string, unknown> = {}
      for (const field of FIELDS) if (line[field] !== undefined) allowed[field] = line[field]
      out[level](allowed, 'request')
    },
    info: (sentence, fields = {}) => out.info(fields, sentence),
    warn: (sentence, fields = {}) => out.warn(fields, sentence),
    error: (sentence, error, fields = {}) =>
      out.error({ ...fields, err: withoutSecrets(describe(error)) }, sentence),
  }
}

/** Gets every request that is logged. */
export type RequestObserver = Pick<Log, 'request'>

/** A log that also passes requests to metrics and traces. */
export function withObservers(log: Log, observers: readonly RequestObserver[]): Log {
  return {
    ...log,
    request: (line) => {
      log.request(line)
      for (const observer of observers) observer.request(line)
    },
  }
}

/**
 * An error and its causes as plain text. Enumerable properties are not printed, because they may
 * contain anything.
 */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'a value that is not an Error was thrown'
  const own = error.stack ?? `${error.name}: ${error.message}`
  return error.cause === undefined ? own : `${own}\ncaused by ${describe(error.cause)}`
}
