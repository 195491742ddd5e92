// WebSockets that are open through the proxy.
import { send } from './http.ts'
import { useChange, usePages } from './queries.ts'
import { Socket } from './shapes.ts'

const SOCKETS = ['sockets'] as const
/** Milliseconds between refetches while visible. */
const LIVE = 5_000

/** Lists open sockets, oldest first, page by page. */
export const useSockets = () =>
  usePages({
    key: SOCKETS,
    item: Socket,
    path: '/api/v1/sockets',
    query: { limit: 50 },
    refetchMs: LIVE,
  })

/** Ends an open socket. */
export const useEndSocket = () =>
  useChange(SOCKETS, (id: string) =>
    send(`/api/v1/sockets/${encodeURIComponent(id)}`, { method: 'DELETE' }),
  )
