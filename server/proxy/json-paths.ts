// Paths of wanted values (`model`, `requests[].params.model`, `[].usageMetadata`) as the tree that json-scanner.ts walks.

/** One place in the tree of wanted paths. */
export interface Node {
  readonly path: string
  wanted: boolean
  props: Map<string, Node> | null
  folded: Map<string, Node> | null
  /** 1 for each first byte that a key worth looking up can have. */
  firsts: Uint8Array | null
  /** Lengths of the keys, in characters. */
  lengths: Set<number>
  items: Node | null
}

/** Paths compiled for scanning. */
export interface WantedPaths {
  readonly root: Node
}

/**
 * Compiles paths such as `model`, `requests[].params.model` or `[].usageMetadata` (a list at the root).
 * A path may not run through another wanted path.
 */
export function wantPaths(paths: Iterable<string>): WantedPaths {
  const root = node('')
  for (const path of paths) {
    let at = root
    for (const step of path.match(/\[\]|[^.[\]]+/g) ?? []) {
      if (step === '[]') at = at.items ??= node(`${at.path}[]`)
      else {
        at.props ??= new Map()
        at.folded ??= new Map()
        let next = at.props.get(step)
        if (!next) {
          next = node(at.path === '' ? step : `${at.path}.${step}`)
          at.props.set(step, next)
          at.folded.set(fold(step), next)
          at.firsts ??= anyOddByte()
          at.lengths.add(step.length)
          at.firsts[step.toLowerCase().charCodeAt(0)] = 1
          at.firsts[step.toUpperCase().charCodeAt(0)] = 1
        }
        at = next
      }
    }
    at.wanted = true
  }
  return { root }
}

const node = (path: string): Node => ({ path, wanted: false, props: null, folded: null, firsts: null, lengths: new Set(), items: null })

/** An escape, a control character or a byte beyond ASCII: only with one of these can keys of other letters or another length be alike. */
export const isOdd = (byte: number): boolean => byte === 0x5c || byte < 0x20 || byte > 0x7e
const anyOddByte = (): Uint8Array => Uint8Array.from({ length: 256 }, (_, byte) => (isOdd(byte) ? 1 : 0))

/** One spelling for all that differ in case only, the two letters included that fold into ASCII (ſ, K). */
export const fold = (key: string): string => key.toUpperCase().toLowerCase()
