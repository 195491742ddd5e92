// Paths of wanted values (`model`, `requests[].params.model`, `[].usageMetadata`, `variables.*.file_id`) as the tree that json-scanner.ts walks.

/** One place in the tree of wanted paths. */
export interface Node {
  readonly path: string
  wanted: boolean
  props: Map<string, Node> | null
  folded: Map<string, Node> | null
  /** 1 for each first byte that a key worth looking up can have. */
  firsts: Uint8Array | null
  /** The keys, as they are spelled without escapes, with their lengths in bytes. */
  keys: { readonly bytes: Buffer; readonly node: Node }[]
  lengths: Set<number>
  items: Node | null
  /** What stands under any key: then no key is looked up. */
  any: Node | null
}

/** Paths compiled for scanning. */
export interface WantedPaths {
  readonly root: Node
}

/** The value that a text of JSON is, or undefined. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The steps of a path: keys, `[]` for every item of a list, and `*` for every value of an object. */
export const stepsOf = (path: string): readonly string[] => path.match(/\[\]|[^.[\]]+/g) ?? []

/** What stands at a path of a parsed value; nothing where there is no such place. */
export function valuesAt(value: unknown, path: string): unknown[] {
  let here = [value]
  for (const step of stepsOf(path)) {
    here = here.flatMap((one): unknown[] => {
      if (step === '[]') return Array.isArray(one) ? one : []
      return typeof one === 'object' && one !== null && Object.hasOwn(one, step) ? [(one as Record<string, unknown>)[step]] : []
    })
  }
  return here
}

/**
 * Compiles paths such as `model`, `requests[].params.model` or `[].usageMetadata` (a list at the root).
 * A path may run through another wanted path by a key: what stands there is then the value unless it is an object, which is looked into instead.
 */
export function wantPaths(paths: Iterable<string>): WantedPaths {
  const root = node('')
  for (const path of paths) {
    let at = root
    for (const step of stepsOf(path)) {
      if (step === '[]') at = at.items ??= node(`${at.path}[]`)
      else if (step === '*') at = at.any ??= node(`${at.path}.*`)
      else {
        at.props ??= new Map()
        at.folded ??= new Map()
        let next = at.props.get(step)
        if (!next) {
          next = node(at.path === '' ? step : `${at.path}.${step}`)
          at.props.set(step, next)
          at.folded.set(fold(step), next)
          at.firsts ??= anyOddByte()
          const bytes = Buffer.from(step)
          at.keys.push({ bytes, node: next })
          at.lengths.add(bytes.length)
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

const node = (path: string): Node => ({ path, wanted: false, props: null, folded: null, firsts: null, keys: [], lengths: new Set(), items: null, any: null })

/** The key of a place that these bytes spell exactly, or null. */
export function spelled({ keys }: Node, chunk: Buffer, from: number, to: number): Node | null {
  for (const { bytes, node } of keys) {
    if (bytes.length !== to - from) continue
    let i = 0
    while (i < bytes.length && bytes[i] === chunk[from + i]) i++
    if (i === bytes.length) return node
  }
  return null
}

/** What a key of other bytes is: a key of the place written with escapes, one that some parsers take for one, or none that JSON knows. */
export type Resemblance = { readonly kind: 'escaped' | 'lookalike'; readonly node: Node } | { readonly kind: 'malformed' }

/** What a key that is not spelled exactly is; null where it is simply another one. @param raw as it stands between its quotes */
export function resembled({ props, folded }: Node, raw: string): Resemblance | null {
  const escaped = raw.includes('\\')
  const key = escaped ? parseJson(`"${raw}"`) : raw
  if (typeof key !== 'string') return { kind: 'malformed' }
  const node = props?.get(key)
  if (node) return { kind: 'escaped', node }
  const nul = key.indexOf('\0')
  const alike = folded?.get(fold(nul < 0 ? key : key.slice(0, nul)))
  if (alike) return { kind: 'lookalike', node: alike }
  // oxlint-disable-next-line no-control-regex -- RFC 8259, section 7: these must be escaped
  return !escaped && /[\u0000-\u001f]/.test(key) ? { kind: 'malformed' } : null
}

/** Whether there is an escape, a control character or a byte beyond ASCII: only with one of these can keys of other letters or another length be alike. */
export function hasOdd(chunk: Buffer, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (isOdd(chunk[i]!)) return true
  return false
}

const isOdd = (byte: number): boolean => byte === 0x5c || byte < 0x20 || byte > 0x7e
const anyOddByte = (): Uint8Array => Uint8Array.from({ length: 256 }, (_, byte) => (isOdd(byte) ? 1 : 0))

/** One spelling for all that differ in case only, the two letters included that fold into ASCII (ſ, K). */
export const fold = (key: string): string => key.toUpperCase().toLowerCase()
