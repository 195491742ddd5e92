// Start while the database is down: the process listens, reports that it is not ready, and retries
// until the database responds.
import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from '../common/errors.ts'
import { newId } from '../common/ids.ts'
import type { HttpExchange } from '../http1/exchange.ts'
import type { RequestListeners } from '../http1/listen.ts'
import { NodeExchange } from '../http1/node-exchange.ts'
import { errorResponse } from '../proxy/error-response.ts'
import { isProxyTarget } from '../proxy/parse-target.ts'
import { PROXY_PATH } from './listening.ts'
import { isUnreachable } from '../store/unreachable.ts'
import {
  createSurface,
  nodeListener,
  REQUESTS_PER_TURN,
  type SurfaceDependencies,
} from './surface.ts'
import { TurnBudget } from '../common/fairness/turn-budget.ts'

/** Milliseconds between attempts to reach the database. */
const RETRY_MS = 1_000
/** Seconds after which a caller should try again. */
const RETRY_AFTER = 5

const SENTENCE = 'The database does not answer at the moment. Try again in a moment.'

/**
 * Serves health and metrics, and refuses all other requests with 503.
 *
 * @param isProxy whether the process will proxy requests once it has started
 */
export function createWaitingListeners(
  deps: SurfaceDependencies,
  isProxy: boolean,
): RequestListeners {
  const api = createSurface(deps, new TurnBudget(REQUESTS_PER_TURN), async () => ({}))
  api.all('*', () => {
    throw new Problem('store_unavailable', SENTENCE, { retryAfter: RETRY_AFTER })
  })
  const handle = nodeListener(api, deps)
  const refuse = (exchange: HttpExchange): void => refuseProxied(exchange, deps.clock())
  return {
    direct: isProxy ? { path: PROXY_PATH, handle: refuse } : null,
    other: (incoming, outgoing) =>
      isProxyTarget(incoming.url ?? '')
        ? refuse(new NodeExchange(incoming, outgoing))
        : handle(incoming, outgoing),
  }
}

/** Refuses a proxied request as the proxy does while its store is down. */
function refuseProxied(exchange: HttpExchange, now: number): void {
  const { status, reason, headers, body } = errorResponse('service_unavailable', SENTENCE, null)
  const id = newId('req', now)
  exchange.writeHead(status, reason, [
    ...headers,
    'Retry-After',
    String(RETRY_AFTER),
    'X-Request-Id',
    id,
    'X-Proxy-Request-Id',
    id,
  ])
  exchange.write(body)
  exchange.end()
  exchange.flush()
}

/**
 * Opens something that needs the database, and retries until the database can be reached.
 *
 * @param open opens it on a stack, which is disposed of if it fails
 * @param onUnreachable awaited before each further attempt
 * @param signal ends the wait; the promise then rejects
 */
export async function openWhenReachable<T>(
  open: (opened: AsyncDisposableStack) => Promise<T>,
  opened: AsyncDisposableStack,
  onUnreachable: (error: unknown) => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<T> {
  for (;;) {
    await using attempt = new AsyncDisposableStack()
    try {
      const result = await open(attempt)
      opened.use(attempt.move())
      return result
    } catch (error) {
      if (!isUnreachable(error)) throw error
      await onUnreachable(error)
    }
    await sleep(RETRY_MS, undefined, signal === undefined ? {} : { signal })
  }
}
