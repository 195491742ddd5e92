// A connection router, opened as in the server, in front of a test's server.
import type { Server } from 'node:http'
import { ConnectionProblems } from '../../server/common/connection-errors.ts'
import { createTurns } from '../../server/common/fairness/turn-budget.ts'
import { openLog } from '../../server/common/log.ts'
import {
  ConnectionRouter,
  createRouterTurns,
  type RouterOptions,
} from '../../server/http1/connection-router.ts'

/** Routes requests for `/proxy` to `handle`. */
export function openRouter(
  server: Server,
  handle: RouterOptions['handle'],
  timeouts: RouterOptions['timeouts'],
): ConnectionRouter {
  return new ConnectionRouter(server, {
    path: '/proxy',
    handle,
    timeouts,
    errors: new ConnectionProblems(openLog('silent'), Date.now),
    now: Date.now,
    turns: createRouterTurns(createTurns),
  })
}
