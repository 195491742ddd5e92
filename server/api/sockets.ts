// /api/v1/sockets: the proxy's open WebSockets, of all processes.
import { z } from '@hono/zod-openapi'
import { PageQuery, countedListOf, page, type Api } from './api.ts'
import { isoTime } from '../common/clock.ts'
import { Problem } from '../common/errors.ts'
import type { Proxy } from '../proxy/index.ts'
import {
  countSockets,
  endSocket,
  listSockets,
  progressOf,
  type SocketEntry,
} from '../proxy/socket/socket-table.ts'
import { AccountScopeParams, resolveAccountScope } from './account-scope.ts'
import { withNames } from './refusals.ts'
import { done, ok, route, routes } from './route.ts'
import type { Store } from '../store/store.ts'

const count = z.number().int()

const SocketSchema = z
  .object({
    id: z.string().openapi({ description: 'The X-Proxy-Request-Id of its handshake.' }),
    object: z.literal('socket'),
    key_id: z.string(),
    key_name: z.string().nullable().openapi({ description: 'The current name of the key.' }),
    account_id: z.string(),
    account_name: z
      .string()
      .nullable()
      .openapi({ description: 'The current name of the account.' }),
    child_id: z.string().nullable().openapi({
      description: 'The child key that opened it; null if the key itself did.',
    }),
    end_user: z
      .string()
      .nullable()
      .openapi({ description: 'The person the child key was created for.' }),
    provider: z.string(),
    endpoint: z.string(),
    model: z.string().nullable().openapi({ description: 'The last one that the session named.' }),
    opened_at: z.iso.datetime(),
    requests: count.openapi({
      description: 'Responses that have ended, or minutes if the socket is counted by the minute.',
    }),
    tokens_in: count.nullable().openapi({ description: 'Of these responses; null if unknown.' }),
    tokens_out: count.nullable(),
    bytes_in: count.openapi({ description: 'Bytes sent to the provider.' }),
    bytes_out: count,
  })
  .openapi('Socket')

/** The routes of open sockets. */
export function socketRoutes(
  store: Store,
  { sockets, publisher }: Pick<Proxy, 'sockets' | 'publisher'>,
  clock: () => number,
): Api {
  /** Current figures for a socket of this process, the last stored ones for others. */
  const shown = (entry: SocketEntry) => {
    const own = sockets.get(entry.id)
    const { opened_at, ...rest } = own === undefined ? entry : { ...entry, ...progressOf(own) }
    return { ...rest, object: 'socket' as const, opened_at: isoTime(opened_at) }
  }
  return routes(store, clock, [
    route({
      method: 'get',
      path: '/api/v1/sockets',
      summary: 'List open WebSockets of the proxy, the oldest first',
      description:
        'The sockets of all processes. Those of another process are listed within a second, with figures at most ten seconds old.',
      access: 'manage',
      query: PageQuery.extend(AccountScopeParams.shape),
      response: ok('A page of sockets', countedListOf(SocketSchema)),
      act: async ({ query: { limit, cursor, account: named }, caller }) => {
        const account = resolveAccountScope(caller, named)
        await publisher.publish()
        const [rows, total] = await Promise.all([
          listSockets(store, account, limit + 1, cursor),
          countSockets(store, account),
        ])
        const { data, ...rest } = page(rows, limit)
        return { ...rest, data: await withNames(store, data.map(shown)), total }
      },
    }),
    route({
      method: 'delete',
      path: '/api/v1/sockets/{id}',
      summary: 'Close an open WebSocket',
      description:
        'Its client gets close code 1001: immediately, or within a second if another process serves it.',
      access: 'manage',
      query: AccountScopeParams,
      response: done('The socket is being closed'),
      problems: ['socket_not_found'],
      act: async ({ params, query, caller }) => {
        await publisher.publish()
        if (!(await endSocket(store, params.id, resolveAccountScope(caller, query.account))))
          throw new Problem('socket_not_found', 'There is no such socket, or it has ended.')
        publisher.end(params.id)
      },
    }),
  ])
}
