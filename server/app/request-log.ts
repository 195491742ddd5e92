// The log line of a response.
import type { HttpBindings } from '@hono/node-server'
import type { Log, RequestLine } from '../common/log.ts'

/**
 * Logs one line when the response is complete or the caller is gone; `describe` then says what the
 * request was.
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
  // Who left in the middle of the request is gone by now.
  if (outgoing.closed) done()
  else outgoing.once('close', done)
}
