// Resolving the names of upstreams. The system's resolver runs on two of the few threads that all
// of Node shares, and a name takes one of them until it is answered or given up: asked once for
// each connection, a burst of one key to one host would stand in front of everybody's connections.
import { lookup as lookupHost, type LookupAddress, type LookupOptions } from 'node:dns'

type Found = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void

/** Resolves a name to all of its addresses. */
export type Resolve = (
  hostname: string,
  options: LookupOptions & { all: true },
  found: Found,
) => void

/**
 * A resolver that asks once for all who want to know the same name while the answer is on its way.
 * Nothing is kept: who asks after the answer asks anew, so that a name which has moved is followed
 * at once.
 */
export function sharedResolve(resolve: Resolve = lookupHost): Resolve {
  const underWay = new Map<string, Found[]>()
  return (hostname, options, found) => {
    const question = `${hostname} ${options.family ?? 0} ${options.hints ?? 0} ${options.order ?? ''}`
    const waiting = underWay.get(question)
    if (waiting !== undefined) return void waiting.push(found)
    const all = [found]
    underWay.set(question, all)
    resolve(hostname, options, (error, addresses) => {
      underWay.delete(question)
      for (const one of all) one(error, addresses)
    })
  }
}
