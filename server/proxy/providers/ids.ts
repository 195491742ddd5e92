// Recognizes the ids of stored objects anywhere in a request, by their spelling.
//
// The rule: a whole string, decoded and without surrounding spaces, names an object if it is
// - an id with its provider's prefix (`file-abc`, `resp_…`), alone or as a segment of an address or
//   a path without spaces;
// - a resource name (`files/abc`, `v1beta/tunedModels/x:generateContent`), also as an address at
//   the provider's host;
// - a UUID, if the provider uses them: it may then be of any kind. Anything inside a longer text is
//   text, and so are words of the dialect such as `file_search`. Ids of tool calls (`call_…`,
//   `toolu_…`) are not objects. An id that is known to be another key's is refused everywhere.
//
// For keys with `objects: own`, an unowned id is refused, too, if the string can hardly be anything
// else: a lone id of the usual length; a resource name with a word that does not occur in prose
// (`cachedContents/x`); an address at the provider's host. Shorter ids, names such as
// `files/readme`, UUIDs and items of responses, which clients repeat inline, pass unless they are
// in a place for objects.
import { decodedFully, objectRef, plainAddress, type ObjectRef } from './object-ref.ts'
import { ITEM } from '../objects/item-ranges.ts'
import { CLOUD_FIRSTS, CLOUD_HEADS, cloudResource, isProjectName } from './cloud-resources.ts'
import { HEAD_SLOTS, headSlot, type QuickCheck } from '../json/tables.ts'
import { UUID_BYTES, UUID_FIRSTS, uuidOf } from './uuids.ts'
import { OPENAI_PREFIXES, type IdForms, type ModelNames, type Spelling } from './id-spelling.ts'

/** The kind of an id that may be of any kind. */
export const ANY_KIND = '*'
/** Servers that speak OpenAI's dialect make ids of its kind, or UUIDs. */
const DIALECT: Spelling = { prefixes: OPENAI_PREFIXES, uuids: true }

/** Words of the dialects that begin like ids, but name nothing. */
const WORDS: ReadonlySet<string> = new Set([
  'file_search',
  'file_search_call',
  'file_id',
  'file_ids',
  'file_url',
  'file_uri',
  'file_data',
  'file_name',
  'file_path',
  'file_citation',
  'file_size',
  'file_type',
  'file_count',
  'file_counts',
  'file_batch',
  'file_content',
  'file_search_store_names',
  'batch_size',
  'batch_id',
  'thread_id',
  'video_id',
  'voice_id',
  'skill_id',
  'skill_reference',
  'container_id',
  'container_auto',
  'container_reference',
  'container_upload',
  'container_file_citation',
  'agent_id',
  'agent_config',
  'agent_reference',
  'mcp_call',
  'mcp_list_tools',
  'mcp_approval_request',
  'mcp_approval_response',
  'env_vars',
  'upload_id',
  'part_id',
  'part_ids',
  'part_number',
  'part_index',
])

/** The end of a prefix. */
const isSeparator = (code: number): boolean => code === 0x2d || code === 0x5f || code === 0x3a

/** The text up to and including the first separator; `''` if there is none. */
function prefixOf(segment: string): string {
  for (let at = 0; at < segment.length; at++)
    if (isSeparator(segment.charCodeAt(at))) return segment.slice(0, at + 1)
  return ''
}

/**
 * The type of an input item that refers to a stored one:
 * https://platform.openai.com/docs/api-reference/responses/create
 */
export const REFERENCE = 'item_reference'
/** Characters of an id after its prefix. */
const TAIL = /^[\w.~:-]{1,200}$/
/** A string that needs no decoding and is not an address or path. */
const PLAIN = /^[\w.~:-]+$/
/** The end of a generated id: long, without words. */
const GENERATED = /^(?=.*\d)[A-Za-z0-9]{16,}$|^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** A fine-tuned model: the base model and its owner. */
const TUNED = /^ft:[\w.-]+:/
/** Kinds that are recorded only if the provider keeps them, or that clients repeat inline. */
export const OFTEN_UNKNOWN: ReadonlySet<string> = new Set([ITEM, 'completion', 'message'])
/** Possible beginnings of a resource name, apart from its collection. */
const LEADING = /^(?:upload|download|v\d\w*|models|projects|locations|publishers)$/i
/** A generated resource name: `files/k3j9x0a2b1c4`. */
const GENERATED_NAME = /^(?=.*\d)(?=.*[a-z])[a-z0-9]{12}$/
/** Characters that may precede an id, or the collection of a resource. */
export const ANYWHERE = ['h', 'H', '/', '.', '%', ' ', '\t', '\n', '\r', '\\', 'v']
const RESOURCES = ['u', 'd', 'm', 'p', 'l']
const SCHEMES = ['ht', 'Ht', 'hT', 'HT'].flatMap((head) => [`${head}tp:`, `${head}tps:`])
/** Longest string that is read: an address with every letter escaped. */
const LONGEST = 2_048
/** Longest list of addresses: a hundred files at Alibaba. */
const LONGEST_LIST = 8_192
const DIGITS = '0123456789'
/** The first characters of ids without a prefix. */
export const ALPHANUMERIC = `${DIGITS}abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ`
const SHORTEST_NUMBER = 8
/**
 * A number that may be an id anywhere; shorter ones are sizes, years and the like. It counts only
 * if it is known to be another key's.
 */
export const NUMBERED = /^\d{8,}$/
/** An id of only letters and digits; no word is as long and has such letters. */
const BARE = /^(?=.*[A-Z0-9])(?=.*[a-z])[A-Za-z0-9]{20}$/
const BARE_LENGTH = 20
/** For QuickCheck: the characters of an id or a UUID. */
const BARE_BYTES = UUID_BYTES.bytes.map((is, byte) =>
  ALPHANUMERIC.includes(String.fromCharCode(byte)) ? 1 : is,
)
const SHORTEST = 4
/** Spaces and control characters around an id, which servers strip; some end a text at a NUL. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const AROUND = /^[\s\u0000-\u001f\u007f]+|[\s\u0000-\u001f\u007f]+$|\u0000.*$/gs
const ADDRESS = /^(?:https?:)?\/\/(?:[^/?#@]*@)?([^/?#:@]*)(?::\d*)?([/?#].*)?$/is

/**
 * Compiles a provider's spellings, or the dialect's. @param hosts the provider's own, at which an
 * address names its objects
 */
export function compileIds(spelling: Spelling = DIALECT, hosts: readonly string[] = []): IdForms {
  const reader = new IdReader(spelling, hosts)
  const { models, schemes } = spelling
  return {
    ...fastFilter(reader, Object.keys(schemes ?? {})),
    ...(reader.bare === undefined ? {} : { bare: reader.bare }),
    shortest: SHORTEST,
    longest: LONGEST,
    refOf: (text) => reader.refOf(text),
    ...(models === undefined ? {} : { models }),
    ...(schemes === undefined
      ? {}
      : { listed: listReader(schemes), longest: LONGEST_LIST, prose: true }),
  }
}

/** Reads a list of addresses with these schemes. */
function listReader(schemes: Readonly<Record<string, string>>): NonNullable<IdForms['listed']> {
  const kinds = Object.entries(schemes)
  return (text) => {
    if (!/^\s*[a-z]+:\/\//i.test(text)) return null
    const refs = text.split(/[,;\s]+/).flatMap((one) => {
      const [scheme = '', id = ''] = one.split('://', 2)
      const [, kind] = kinds.find(([name]) => name === scheme.toLowerCase()) ?? []
      return kind === undefined || id === '' ? [] : [objectRef(kind, id)]
    })
    return refs.length === 0 ? null : refs
  }
}

/** The filter that excludes most strings of a body by their first bytes. */
function fastFilter(
  { kindOf, kinds, uuids, digits, bare, clouds }: IdReader,
  schemes: readonly string[],
): Pick<IdForms, 'firsts' | 'quick'> {
  const lists = inAnyCase(schemes.map((scheme) => `${scheme}:`))
  const hasItems = [...kindOf.values()].includes(ITEM)
  return {
    firsts: firstBytes([
      ...kindOf.keys(),
      ...(hasItems ? [REFERENCE] : []),
      ...(uuids ? UUID_FIRSTS : ''),
      ...(digits ? DIGITS : ''),
      ...(bare === undefined ? '' : ALPHANUMERIC),
      ...lists,
      ...inAnyCase([...kinds.keys(), ...(kinds.size > 0 ? RESOURCES : [])]),
      ...ANYWHERE,
      ...(clouds ? [...CLOUD_HEADS, ...CLOUD_FIRSTS] : []),
    ]),
    quick: quickCheck(
      [
        ...kindOf.keys(),
        ...[...kinds.keys()].flatMap((name) => /^.*?-/.exec(name) ?? []),
        ...SCHEMES,
        ...lists,
        ...(clouds ? CLOUD_HEADS : []),
        ...(hasItems ? ['item_'] : []),
      ],
      bare !== undefined
        ? { shortest: BARE_LENGTH, bytes: BARE_BYTES }
        : digits
          ? { ...UUID_BYTES, shortest: SHORTEST_NUMBER }
          : uuids
            ? UUID_BYTES
            : null,
    ),
  }
}

/** Reads strings as one provider's ids. Created once for its row. */
class IdReader {
  /** The kinds of ids by their prefix. */
  readonly kindOf: ReadonlyMap<string, string>
  /**
   * The kinds of resource names by their collection, in lower case; `plain`: the collection is a
   * common word.
   */
  readonly kinds: ReadonlyMap<string, { readonly kind: string; readonly plain: boolean }>
  readonly uuids: boolean
  readonly digits: boolean
  readonly bare: RegExp | undefined
  readonly clouds: boolean
  readonly #ownPrefixes: Readonly<Record<string, string>>
  readonly #ownHost: RegExp
  readonly #models: ModelNames | undefined

  constructor(spelling: Spelling, hosts: readonly string[]) {
    const { prefixes = {}, collections = {}, uuids = false, dialect, clouds, models } = spelling
    this.digits = spelling.digits === true
    this.bare = spelling.bare === true ? BARE : undefined
    this.#ownPrefixes = prefixes
    this.kindOf = new Map(
      Object.entries(dialect === true ? { ...OPENAI_PREFIXES, ...prefixes } : prefixes),
    )
    this.kinds = new Map(
      Object.entries(collections).map(
        ([name, kind]) =>
          [name.toLowerCase(), { kind, plain: name === name.toLowerCase() }] as const,
      ),
    )
    this.uuids = uuids
    this.clouds = clouds === true
    this.#ownHost = new RegExp(
      `(?:^|[.-])(?:${hosts.map(hostPattern).join('|') || '$.'})\\.?$`,
      'i',
    )
    this.#models = models
  }

  refOf(given: string): ObjectRef | null {
    // Most ids stand alone.
    if (PLAIN.test(given))
      return given.length < SHORTEST ? null : (this.#segmentRef(given) ?? this.#cloudRef(given))
    const text = (given.includes('%') ? decodedFully(given) : given).replaceAll(AROUND, '')
    if (text.length < SHORTEST || /\s/.test(text)) return null
    const ref = this.#textRef(plainAddress(text))
    if (ref === null) return this.#cloudRef(text)
    return this.clouds && ref.mayBeUnknown === true && isProjectName(text)
      ? { kind: ref.kind, id: ref.id }
      : ref
  }

  /**
   * The cloud resource that a text names; an ARN of a stored model counts as that model, which is
   * also held to the key's scope.
   */
  #cloudRef(text: string): ObjectRef | null {
    const ref = this.clouds ? cloudResource(text) : null
    return ref !== null && text.startsWith('arn:') ? (this.#models?.refsOf(text)[0] ?? ref) : ref
  }

  #textRef(text: string): ObjectRef | null {
    const address = ADDRESS.exec(text)
    if (address !== null && !this.#ownHost.test(address[1] ?? '')) return null
    const path = (address === null ? text : (address[2] ?? '')).replace(/[?#].*$/s, '')
    const segments = path
      .split('/')
      .filter((segment) => segment !== '' && segment !== '.' && segment !== '..')
    const [first] = segments
    if (first === undefined) return null
    return segments.length === 1
      ? this.#segmentRef(first)
      : this.#pathRef(first, segments, address !== null)
  }

  #pathRef(first: string, segments: readonly string[], addressed: boolean): ObjectRef | null {
    const resource = addressed || LEADING.test(first) || this.kinds.has(first.toLowerCase())
    for (const [i, segment] of segments.entries()) {
      const id = segments[i + 1]?.replace(/:[A-Za-z]+$/, '') ?? ''
      const collection =
        resource && TAIL.test(id) ? this.kinds.get(segment.toLowerCase()) : undefined
      if (collection !== undefined) {
        const certain = addressed || !collection.plain || GENERATED_NAME.test(id)
        return certain ? { kind: collection.kind, id } : perhaps({ kind: collection.kind, id })
      }
      const ref = this.#segmentRef(segment)
      if (ref !== null) return perhaps(ref)
    }
    return null
  }

  #segmentRef(segment: string): ObjectRef | null {
    const prefix = prefixOf(segment)
    const kind = this.kindOf.get(prefix)
    if (kind === undefined) {
      const id =
        (this.uuids ? uuidOf(segment) : null) ??
        ((this.digits && NUMBERED.test(segment)) || this.bare?.test(segment) === true
          ? segment
          : null)
      return id === null ? null : perhaps({ kind: ANY_KIND, id })
    }
    const tail = segment.slice(prefix.length)
    if (!TAIL.test(tail) || WORDS.has(segment) || (kind === 'tuned_model' && !TUNED.test(segment)))
      return null
    const certain =
      this.#ownPrefixes[prefix] !== undefined &&
      !OFTEN_UNKNOWN.has(kind) &&
      (kind === 'tuned_model' || GENERATED.test(tail))
    if (certain) return { kind, id: segment }
    const uuid = this.uuids && !OFTEN_UNKNOWN.has(kind) ? uuidOf(tail) : null
    return uuid === null ? perhaps({ kind, id: segment }) : { kind, id: prefix + uuid }
  }
}

/** Resource names are read in any case. */
const inAnyCase = (texts: readonly string[]): string[] =>
  texts.flatMap((text) => [text, text.toUpperCase()])

/**
 * The classes of bytes for a QuickCheck. 1: every id has one among its first bytes. 2: only before
 * an id. 3: never in an id.
 */
const MARKS = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[-_:/%]/.test(String.fromCharCode(byte)) ? 1 : byte <= 0x20 ? 2 : byte >= 0x80 ? 3 : 0,
)
/** An id has its first mark within this many bytes: `batchPredictionJobs/`. */
const HEAD_BYTES = 24

/**
 * @param heads the beginnings of ids, up to their first mark; most keys of a body begin with
 *   something else (saves 1 µs for a request of 1 KB)
 * @param uuids the characters of ids without a mark
 */
function quickCheck(heads: readonly string[], uuids: QuickCheck['uuids']): QuickCheck {
  const slots = new Uint8Array(HEAD_SLOTS)
  for (const head of heads) slots[headSlot(head.charCodeAt(0), head.charCodeAt(1), head.length)] = 1
  return { marks: MARKS, headBytes: HEAD_BYTES, slots, uuids }
}

/** The object of a string that may also be no id. */
export const perhaps = ({ kind, id }: ObjectRef): ObjectRef => ({ kind, id, mayBeUnknown: true })

const hostPattern = (host: string): string =>
  host
    .replaceAll(/\{\w+\}|<\w+>|\*/g, '[a-z0-9-]+')
    .replace(/\.googleapis\.com$/, String.raw`(?:.\w+)*$&`)
    .replaceAll('.', String.raw`\.`)

/**
 * 1 for each possible first byte of a string to check: of an id, a resource name or an address, or
 * a space or escape before one of these.
 */
export function firstBytes(begins: readonly string[]): Uint8Array {
  const firsts = new Uint8Array(256)
  for (const text of begins) firsts[text.charCodeAt(0)] = 1
  return firsts
}
