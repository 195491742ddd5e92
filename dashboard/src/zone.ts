// The zone in which moments are shown, and days are chosen: this browser's, or UTC. Kept in the
// browser.
/** The time zone of shown times: UTC or the browser's. */
export type Zone = 'local' | 'utc'

const NAME = 'zone'
const told = new Set<() => void>()

/** A browser may refuse to keep anything. */
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
    // It holds for this page all the same.
  }
  for (const tell of told) tell()
}

/** Tells when another zone is chosen. @returns what ends that */
export function subscribeZone(tell: () => void): () => void {
  told.add(tell)
  return () => void told.delete(tell)
}
