// Listens on the configured address, or explains in one sentence why it cannot.
import { ConnectionProblems } from '../common/connection-errors.ts'
import { SetupError } from '../common/errors.ts'
import { createTurns } from '../common/fairness/turn-budget.ts'
import type { Log } from '../common/log.ts'
import type { Config } from '../config/settings.ts'
import { listen, ListenError, type RequestListeners, type RunningServer } from '../http1/listen.ts'

/** The path of proxied requests. */
export const PROXY_PATH = '/proxy'

/** Listens on the configured address. @throws SetupError */
export async function listenBySettings(
  listeners: RequestListeners,
  settings: Config['server'],
  log: Log,
  clock: () => number,
): Promise<RunningServer> {
  const errors = new ConnectionProblems(log, clock)
  try {
    return await listen(listeners, { ...settings, errors, turns: createTurns, clock })
  } catch (error) {
    if (!(error instanceof ListenError)) throw error
    throw new SetupError(sentenceOf(error), { cause: error })
  }
}

function sentenceOf({ code, host, port }: ListenError): string {
  if (code === 'EADDRINUSE')
    return `Port ${port} on ${host} is in use. Stop the program that uses it, or set PORT to another port.`
  if (code === 'EACCES')
    return `Port ${port} on ${host} needs more privileges than this user has. Set PORT to a port above 1023.`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `HOST "${host}" is not an address of this machine. Set HOST to localhost, 0.0.0.0 or one of its addresses.`
  return `The server cannot listen on ${host}, port ${port} (${code ?? 'unknown reason'}).`
}
