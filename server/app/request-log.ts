// The log line of a response.
import type { HttpBindings } from '@hono/node-server'
import type { Log, RequestLine } from '../common/log.ts'

/**
 * Logs one line, made by `describe`, when the response is complete or the caller has disconnected.
 */
export function logWhenDone(
  { incoming, outgoing }: Pick<HttpBindings, 'incoming' | 'outgoing'>,
  log: Log,
  started: number,
  describe: () => Pick<RequestLine, 'request_id' | 'route'> & Partial<RequestLine>,
): void {
  const done = (): void => {
    log.request({
      method: incoming.method ?? '',
      status: outgoing.statusCode,
      duration_ms: Math.round(performance.now() - started),
      aborted: outgoing.writableFinished ? undefined : true,
      ...describe(),
    })
  }
  // The caller may have disconnected already.
  if (outgoing.closed) done()
  else outgoing.once('close', done)
}
