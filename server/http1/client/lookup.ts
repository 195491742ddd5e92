// Resolves the names of upstreams. The system's resolver uses two of the few threads that all of
// Node shares, and a lookup occupies one until it completes or times out. With one lookup per
// connection, a burst of one key to one host would delay all other connections.
import { lookup as lookupHost, type LookupAddress, type LookupOptions } from 'node:dns'

type Found = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void

/** Resolves a name to all of its addresses. */
export type Resolve = (
  hostname: string,
  options: LookupOptions & { all: true },
  found: Found,
) => void

/**
 * A resolver that shares one lookup among concurrent requests for the same name. Nothing is cached,
 * so a changed name takes effect at once.
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
