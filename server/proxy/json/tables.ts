// Builds the tables of the scanner's module, as bytes: wanted paths, and watched strings. All
// addresses in a table are relative to its beginning, so that it can be anywhere.
import {
  HOLDS_ITEMS,
  IS_LOOKED_INTO,
  IS_WANTED,
  KEY_BYTES,
  KEY_EXACT,
  KEY_LENGTH,
  KEY_LOWER,
  KEY_NODE,
  KEY_NUMBER,
  KEY_WIDTH,
  NODE_ANY,
  NODE_BYTES,
  NODE_FIRSTS,
  NODE_FLAGS,
  NODE_ITEMS,
  NODE_KEYS,
  NODE_KEY_COUNT,
  NODE_LENGTHS,
  TELLS_END,
} from './layout.ts'

/** Which strings are reported, anywhere in the text: decided without a call. */
export interface StringFilter {
  /**
   * 1 for each first byte that such a string can have. Strings that begin with an escape are
   * reported, too.
   */
  readonly firsts: Uint8Array
  /**
   * Lengths in bytes without escapes, both inclusive. An escaped string is reported if it could
   * decode to one of these.
   */
  readonly shortest: number
  readonly longest: number
  /**
   * Whether a string with a space between other characters is reported, too. Most texts have a
   * space among their first bytes.
   */
  readonly prose?: boolean
  /** The beginning of such a string, if it has no escape. */
  readonly quick?: QuickCheck
}

/**
 * The beginnings of strings of a certain form, up to their first mark; leading bytes that do not
 * count are skipped.
 */
export interface QuickCheck {
  /**
   * The class of each byte: 0 continues, 1 is a mark, 2 counts only after another byte, 3 is in no
   * such string. Anything may follow a `/` or `%`.
   */
  readonly marks: Uint8Array
  /** The first mark is within this many bytes. */
  readonly headBytes: number
  /** 1 for each `headSlot` of a beginning. */
  readonly slots: Uint8Array
  /**
   * For other strings that are at least as long as UUIDs: 1 for each byte that may be among that
   * many, 2 if anything may follow.
   */
  readonly uuids: { readonly shortest: number; readonly bytes: Uint8Array } | null
}

/** Slots of the table of beginnings, a byte each: 1 for a beginning that an id can have. */
export const HEAD_SLOTS = 4_096

/**
 * The slot of a beginning, from its first two bytes and its length. The same as in
 * assembly/events.ts.
 */
export const headSlot = (first: number, second: number, length: number): number =>
  (first * 31 + second * 977 + length * 131) & (HEAD_SLOTS - 1)

/** A node in the tree of wanted paths. */
export interface Node {
  readonly path: string
  wanted: boolean
  /** Whether its end is reported. */
  ends: boolean
  props: Map<string, Node> | null
  items: Node | null
  /** The child for any key; then no key is looked up. */
  any: Node | null
}

/** Wanted paths in the module's form. */
export interface PathTable {
  readonly image: Uint8Array
  readonly root: number
  /** The path of each node, by its offset divided by NODE_BYTES. */
  readonly paths: readonly string[]
}

/** Maximum number of a node's keys, which are the bits of one number. */
const MOST_KEYS = 64
const FIRSTS_BYTES = 256
const LENGTHS_BYTES = KEY_WIDTH + 8

/**
 * Builds the table of a tree of wanted paths.
 *
 * @throws Error if a node has more keys, or longer ones, than a table has room for
 */
export function pathTable(root: Node): PathTable {
  const nodes: Node[] = []
  const offsets = new Map<Node, number>()
  const collect = (node: Node | null): void => {
    if (node === null) return
    nodes.push(node)
    // Offset 0 means that there is none.
    offsets.set(node, nodes.length * NODE_BYTES)
    for (const child of node.props?.values() ?? []) collect(child)
    collect(node.items)
    collect(node.any)
  }
  collect(root)
  let end = (nodes.length + 1) * NODE_BYTES
  const keysBegin = nodes.map(({ props }) => {
    const begin = end
    if (props !== null) end += FIRSTS_BYTES + LENGTHS_BYTES + props.size * KEY_BYTES
    return begin
  })
  const image = new Uint8Array(end)
  const view = new DataView(image.buffer)
  const offsetOf = (node: Node | null): number => (node === null ? 0 : (offsets.get(node) ?? 0))
  for (const [i, node] of nodes.entries()) {
    const at = offsetOf(node)
    const set = (field: number, value: number): void => view.setUint32(at + field, value, true)
    set(
      NODE_FLAGS,
      (node.wanted ? IS_WANTED : 0) |
        (node.ends ? TELLS_END : 0) |
        (node.props !== null || node.any !== null ? IS_LOOKED_INTO : 0) |
        (node.items !== null && !node.wanted ? HOLDS_ITEMS : 0),
    )
    set(NODE_ITEMS, offsetOf(node.items))
    set(NODE_ANY, offsetOf(node.any))
    if (node.props === null) continue
    const firsts = keysBegin[i] ?? end
    set(NODE_FIRSTS, firsts)
    set(NODE_LENGTHS, firsts + FIRSTS_BYTES)
    set(NODE_KEYS, firsts + FIRSTS_BYTES + LENGTHS_BYTES)
    set(NODE_KEY_COUNT, node.props.size)
    writeKeys(
      image,
      firsts,
      [...node.props].map(([key, child]) => [key, offsetOf(child)]),
    )
  }
  return { image, root: offsetOf(root), paths: ['', ...nodes.map(({ path }) => path)] }
}

/** @param keys with the offsets of their nodes, in the order in which they were wanted */
function writeKeys(
  image: Uint8Array,
  firsts: number,
  keys: readonly [key: string, node: number][],
): void {
  const bad = keys.find(
    ([key]) => !/^[!-~]{1,63}$/.test(key) || key.includes('"') || key.includes('\\'),
  )
  if (bad !== undefined || keys.length > MOST_KEYS)
    throw new Error(
      `The scanner cannot look for these keys: ${bad?.[0] ?? `${keys.length} in one object`}.`,
    )
  const view = new DataView(image.buffer)
  const lengths = firsts + FIRSTS_BYTES
  image.set(ODD, firsts)
  const sorted = keys.toSorted(([one], [other]) => one.length - other.length)
  for (const [i, [key, node]] of sorted.entries()) {
    const lower = key.toLowerCase()
    image[firsts + lower.charCodeAt(0)] = image[firsts + key.toUpperCase().charCodeAt(0)] = 1
    const at = lengths + LENGTHS_BYTES + i * KEY_BYTES
    view.setUint32(at + KEY_NODE, node, true)
    view.setUint32(at + KEY_NUMBER, i, true)
    view.setUint32(at + KEY_LENGTH, key.length, true)
    image.set(Buffer.from(key), at + KEY_EXACT)
    image.set(Buffer.from(lower), at + KEY_LOWER)
  }
  for (let length = 0; length < LENGTHS_BYTES; length++)
    image[lengths + length] = sorted.filter(([key]) => key.length < length).length
}

/**
 * Bytes of the longest string that can be watched: the window has room for this much of a token
 * from an earlier piece, and for a whole piece.
 */
const LONGEST_WATCHED = 8_192

/** 1 for each possible first byte of an oddly spelled key. */
const ODD = Uint8Array.from({ length: FIRSTS_BYTES }, (_, byte) =>
  byte === 0x5c || byte < 0x20 || byte > 0x7e ? 1 : 0,
)

/**
 * The offsets of the parts of a watched strings' table; those of the quick check are as in
 * assembly/events.ts.
 */
export const FILTER_QUICK = FIRSTS_BYTES
const QUICK_MARKS = 64
const QUICK_SLOTS = 320
const QUICK_UUIDS = QUICK_SLOTS + HEAD_SLOTS

/**
 * Builds the table of watched strings.
 *
 * @throws Error if the window has no room for the longest string
 */
export function filterTable({ firsts, longest, quick }: StringFilter): Uint8Array {
  if (longest > LONGEST_WATCHED)
    throw new Error(`Strings of ${longest} bytes are longer than the scanner can watch.`)
  const image = new Uint8Array(
    FILTER_QUICK + (quick === undefined ? 0 : QUICK_UUIDS + FIRSTS_BYTES),
  )
  image.set(firsts)
  if (quick === undefined) return image
  const view = new DataView(image.buffer)
  view.setUint32(FILTER_QUICK, quick.uuids?.shortest ?? 0, true)
  view.setUint32(FILTER_QUICK + 4, quick.headBytes, true)
  image.set(quick.marks, FILTER_QUICK + QUICK_MARKS)
  image.set(quick.slots, FILTER_QUICK + QUICK_SLOTS)
  if (quick.uuids !== null) image.set(quick.uuids.bytes, FILTER_QUICK + QUICK_UUIDS)
  return image
}
