// The time zone of the dashboard: the browser's or UTC. Saved in the browser.
/** A time zone: the browser's or UTC. */
export type Zone = 'local' | 'utc'

const NAME = 'zone'
const told = new Set<() => void>()

/** The saved zone; the browser may deny access to its storage. */
function stored(): Zone {
  try {
    return localStorage.getItem(NAME) === 'utc' ? 'utc' : 'local'
  } catch {
    return 'local'
  }
}

let zone: Zone = 'window' in globalThis ? stored() : 'local'

/** The chosen time zone. */
export const getZone = (): Zone => zone

/** Changes the time zone, and notifies every component that shows times. */
export function setZone(wanted: Zone): void {
  zone = wanted
  try {
    localStorage.setItem(NAME, wanted)
  } catch {
    // It still applies to this page.
  }
  for (const tell of told) tell()
}

/** Calls back when another zone is chosen. @returns the function that unsubscribes */
export function subscribeZone(tell: () => void): () => void {
  told.add(tell)
  return () => void told.delete(tell)
}
