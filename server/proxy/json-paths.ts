// Paths of wanted values (`model`, `requests[].params.model`, `[].usageMetadata`, `variables.*.file_id`) as the tree that json-scanner.ts walks.

/** What a key of an object is: a wanted one, one that some parsers take for one, or none that JSON knows. */
export type FoundKey = { readonly kind: 'exact' | 'escaped' | 'lookalike'; readonly node: Node } | { readonly kind: 'malformed' }

/** A wanted key, and what is found where it is spelled in each of these ways: made once, so that a look-up allocates nothing. */
interface WantedKey {
  readonly node: Node
  readonly bytes: Buffer
  readonly lower: Buffer
  readonly exact: FoundKey
  readonly escaped: FoundKey
  readonly lookalike: FoundKey
}

/** One place in the tree of wanted paths. */
export interface Node {
  readonly path: string
  wanted: boolean
  /** Whether its end is told. */
  ends: boolean
  props: Map<string, WantedKey> | null
  /** 1 for each first byte that a key worth looking up can have. */
  firsts: Uint8Array | null
  /** The keys by their length in bytes, without escapes; and by their folded spelling. */
  byLength: WantedKey[][]
  folded: Map<string, WantedKey> | null
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
 *
 * @param ends those of these paths, and of what lies on their way, where the end of a list or object is told
 */
export function wantPaths(paths: Iterable<string>, ends: ReadonlySet<string> = new Set()): WantedPaths {
  const root = node('', ends)
  for (const path of paths) {
    let at = root
    for (const step of stepsOf(path)) {
      if (step === '[]') at = at.items ??= node(`${at.path}[]`, ends)
      else if (step === '*') at = at.any ??= node(`${at.path}.*`, ends)
      else {
        at.props ??= new Map()
        at.folded ??= new Map()
        let key = at.props.get(step)
        if (!key) {
          key = wantedKey(step, node(at.path === '' ? step : `${at.path}.${step}`, ends))
          at.props.set(step, key)
          at.firsts ??= Uint8Array.from(ODD)
          at.firsts[step.toLowerCase().charCodeAt(0)] = 1
          at.firsts[step.toUpperCase().charCodeAt(0)] = 1
          at.folded.set(fold(step), key)
          while (at.byLength.length <= key.bytes.length) at.byLength.push([])
          at.byLength[key.bytes.length]!.push(key)
        }
        at = key.node
      }
    }
    at.wanted = true
  }
  return { root }
}

const node = (path: string, ends: ReadonlySet<string>): Node => ({ path, wanted: false, ends: ends.has(path), props: null, firsts: null, byLength: [], folded: null, items: null, any: null })

function wantedKey(key: string, node: Node): WantedKey {
  return { node, bytes: Buffer.from(key), lower: Buffer.from(key.toLowerCase()), exact: { kind: 'exact', node }, escaped: { kind: 'escaped', node }, lookalike: { kind: 'lookalike', node } }
}

const NO_KEYS: readonly WantedKey[] = []
const MALFORMED: FoundKey = { kind: 'malformed' }

/** What a key of an object at this place is; null where it is simply another one. The key is `bytes[from] … bytes[to - 1]`, inside of its quotes. */
export function keyAt(at: Node, bytes: Buffer, from: number, to: number): FoundKey | null {
  const size = to - from
  const same = size < at.byLength.length ? at.byLength[size]! : NO_KEYS
  for (const key of same) if (equals(key.bytes, bytes, from)) return key.exact
  for (let i = from; i < to; i++) {
    if (ODD[bytes[i]!] === 1) return mayBeOdd(bytes, i, to) ? oddKey(at, bytes.toString('utf8', from, to)) : null
  }
  // A key of plain letters is like another one in nothing but their case.
  for (const key of same) if (equalsInAnyCase(key.lower, bytes, from)) return key.lookalike
  return null
}

function equals(key: Buffer, bytes: Buffer, from: number): boolean {
  for (let i = 0; i < key.length; i++) if (key[i] !== bytes[from + i]) return false
  return true
}

function equalsInAnyCase(lower: Buffer, bytes: Buffer, from: number): boolean {
  for (let i = 0; i < lower.length; i++) {
    const byte = bytes[from + i]!
    if (lower[i] !== (byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte)) return false
  }
  return true
}

/** Whether a key holds an escape, a control character or a letter that folds into ASCII: what else lies beyond ASCII makes it simply another key. */
function mayBeOdd(bytes: Buffer, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    const byte = bytes[i]!
    if (byte < 0x80 ? ODD[byte] === 1 : byte >= 0xc0 && FOLDING.has((byte << 8) | (i + 1 < to ? bytes[i + 1]! : 0))) return true
  }
  return false
}

/** A key with an escape, a control character or a letter beyond ASCII: only such ones can be like a key of other letters or another length. */
function oddKey({ props, folded }: Node, raw: string): FoundKey | null {
  const escaped = raw.includes('\\')
  const key = escaped ? parseJson(`"${raw}"`) : raw
  if (typeof key !== 'string') return MALFORMED
  const spelled = props?.get(key)
  if (spelled) return spelled.escaped
  const nul = key.indexOf('\0')
  const alike = folded?.get(fold(nul < 0 ? key : key.slice(0, nul)))
  if (alike) return alike.lookalike
  // oxlint-disable-next-line no-control-regex -- RFC 8259, section 7: these must be escaped
  return !escaped && /[\u0000-\u001f]/.test(key) ? MALFORMED : null
}

const ODD = Uint8Array.from({ length: 256 }, (_, byte) => (byte === 0x5c || byte < 0x20 || byte > 0x7e ? 1 : 0))

/** One spelling for all that differ in case only, the letters included that fold into ASCII (ſ, ı, K, ﬁ). */
function fold(key: string): string {
  return key.toUpperCase().toLowerCase()
}

/** All letters beyond ASCII that fold into ASCII (Unicode 17). json-scanner.test.ts looks for others. */
export const FOLDING_LETTERS: readonly string[] = ['ß', 'ı', 'ſ', '\u212a', 'ﬀ', 'ﬁ', 'ﬂ', 'ﬃ', 'ﬄ', 'ﬅ', 'ﬆ']

/** The first two bytes of each. */
const FOLDING: ReadonlySet<number> = new Set(FOLDING_LETTERS.map((letter) => Buffer.from(letter).readUInt16BE()))
