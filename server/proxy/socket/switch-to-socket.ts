// Steps 8 and 9 of a request that becomes a socket, once the provider has switched protocols.
import { newId } from '../../common/ids.ts'
import { UpstreamError } from '../../http1/client/client.ts'
import type { RawHeaders } from '../../http1/header-fields.ts'
import type { CachedKey } from '../../keys/cache.ts'
import type { RequestSlot } from '../admission/request-shares.ts'
import type { Forwardable, RelayResult } from '../forward/forwarded-request.ts'
import type { ResponseRecorder } from '../forward/response-recorder.ts'
import { GatewayError } from '../gateway-error.ts'
import {
  logRequest,
  withoutHead,
  type EndedRequest,
  type RequestContext,
} from '../request-context.ts'
import { recordRefusal, type ErrorDeps } from '../send-error.ts'
import { runSocket, type SocketDeps, type SocketResult } from './run-socket.ts'

const SWITCHED = 101

/**
 * Opens the socket for which a request was admitted, and lets it settle its own rows.
 * @throws GatewayError if it was not opened; then the reservation is settled
 */
export async function switchToSocket(
  deps: SocketDeps & ErrorDeps,
  context: RequestContext,
  { slot, request, inspected, admitted, socket }: Forwardable,
  recorder: ResponseRecorder,
  { headers, connection }: NonNullable<RelayResult['switched']>,
  authenticate: () => CachedKey,
): Promise<void> {
  const { id, exchange } = context
  const { provider, match, pathAndQuery } = request
  try {
    const switched = {
      id,
      exchange,
      // oxlint-disable-next-line typescript/no-non-null-assertion -- a connection is switched for a request with a socket only
      socket: socket!,
      provider,
      match,
      pathAndQuery,
      slot,
      admitted,
      upstream: connection,
      headers,
      filter: (raw: RawHeaders) => recorder.head(SWITCHED, raw),
      upstreamRequestId: () => recorder.upstreamRequestId,
      key: request.key,
      authenticate,
    }
    runSocket(deps, switched, endOfSocket(deps, withoutHead(context), request, slot))
  } catch (thrown) {
    connection.destroy()
    const error = new UpstreamError('unreachable', 'no WebSocket was opened', thrown)
    const none = { status: null, bytesIn: 0, bytesOut: 0 }
    await recorder.settle({ outcome: 'failed', error, ...none }, inspected.model)
    throw thrown
  }
}

/**
 * The callback for the end of a socket. It lives as long as the socket, so it keeps little alive.
 */
function endOfSocket(
  deps: SocketDeps & ErrorDeps,
  ended: EndedRequest,
  { key, match: { pattern: endpoint } }: Forwardable['request'],
  slot: RequestSlot,
): (result: SocketResult) => void {
  return ({ outcome, code, refusal, model, usage, bytesIn, bytesOut }) => {
    slot.release()
    const stats = {
      bytesIn,
      bytesOut,
      outcome: outcome === 'shutdown' ? ('complete' as const) : outcome,
      endpoint,
      firstByteMs: null,
      usage,
    }
    logRequest(deps, ended, SWITCHED, code === null ? null : { code, model }, stats)
    if (code !== null && refusal !== null)
      recordRefusal(deps, ended, key, new GatewayError(code, refusal, [], model), {
        id: newId('req', deps.clock.now()),
        status: SWITCHED,
      })
  }
}
