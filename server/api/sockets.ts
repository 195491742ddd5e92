// /api/v1/sockets: WebSockets that are open through the proxy, in the process that answers.
import { z } from '@hono/zod-openapi'
import { countedListOf, whole, type Api } from './api.ts'
import { isoTime } from '../common/clock.ts'
import { Problem } from '../common/errors.ts'
import type { Proxy } from '../proxy/index.ts'
import type { OpenSocket } from '../proxy/socket/open-sockets.ts'
import { AccountScopeParams, resolveAccountScope } from './account-scope.ts'
import { done, ok, route, routes } from './route.ts'
import type { Store } from '../store/open.ts'

const count = z.number().int()

const SocketSchema = z
  .object({
    id: z.string().openapi({ description: 'The X-Proxy-Request-Id of its handshake.' }),
    object: z.literal('socket'),
    key_id: z.string(),
    account_id: z.string(),
    provider: z.string(),
    endpoint: z.string(),
    model: z.string().nullable().openapi({ description: 'As the session has named it last.' }),
    opened_at: z.iso.datetime(),
    bytes_in: count.openapi({ description: 'Bytes that went to the provider.' }),
    bytes_out: count,
  })
  .openapi('Socket')

/** What an operator who ends a socket tells its client. */
const ENDED = 'The socket was ended by the operator of the proxy.'

/** The routes of open sockets. */
export function socketRoutes(
  store: Store,
  { sockets }: Pick<Proxy, 'sockets'>,
  clock: () => number,
): Api {
  const openOf = (account: string | null): OpenSocket[] =>
    [...sockets].filter(({ key }) => account === null || key.accountId === account)
  return routes(store, clock, [
    route({
      method: 'get',
      path: '/api/v1/sockets',
      summary: 'List open WebSockets of the proxy, the oldest first',
      description: 'Those of the process that answers: of several, ask each.',
      access: 'manage',
      query: AccountScopeParams,
      answer: ok('All of them', countedListOf(SocketSchema)),
      act: ({ query, caller }) =>
        Promise.resolve(whole(openOf(resolveAccountScope(caller, query.account)).map(shown))),
    }),
    route({
      method: 'delete',
      path: '/api/v1/sockets/{id}',
      summary: 'End an open WebSocket',
      description: 'Its client gets close code 1001. It must be open in the process that answers.',
      access: 'manage',
      query: AccountScopeParams,
      answer: done('Ended'),
      problems: ['socket_not_found'],
      act: ({ params, query, caller }) => {
        const all = openOf(resolveAccountScope(caller, query.account))
        const socket = all.find(({ id }) => id === params.id)
        if (socket === undefined)
          throw new Problem('socket_not_found', 'There is no such socket, or it has ended.')
        socket.session.stop(ENDED)
        return Promise.resolve()
      },
    }),
  ])
}

function shown({ id, key, provider, endpoint, openedAt, session }: OpenSocket) {
  const { model, bytes } = session
  return {
    id,
    object: 'socket' as const,
    key_id: key.id,
    account_id: key.accountId,
    provider,
    endpoint,
    model,
    opened_at: isoTime(openedAt),
    bytes_in: bytes.up,
    bytes_out: bytes.down,
  }
}
