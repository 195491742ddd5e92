// How the ids of providers' stored objects are spelled, so that one is known wherever it stands in
// a request.
//
// The rule, in plain words. A whole string, decoded and without spaces around it, names an object
// where it is
// - an id with its provider's prefix (`file-abc`, `resp_…`), alone or as a segment of an address or
//   a path without spaces;
// - a resource name (`files/abc`, `v1beta/tunedModels/x:generateContent`), also as an address at
//   the provider's host;
// - a UUID, where the provider's ids are such: it may then be of any kind. Whatever stands inside
//   of longer text is text, and so are words of the dialect such as `file_search`. Ids of tool
//   calls (`call_…`, `toolu_…`) are no objects. What is known to be another key's is refused
//   wherever it stands.
//
// What nobody here has made is refused too, for keys with objects of their own, where the string
// cannot well be anything else: an id alone, as long as providers make them; a resource name of a
// word that no prose has (`cachedContents/x`); an address at the provider's host. Shorter ids,
// names such as `files/readme`, UUIDs and items of responses, which clients repeat inline, pass
// unless the place in which they stand names an object.
import { decodedFully, plainAddress, type ObjectRef } from './object-ref.ts'
import { ITEM } from '../objects/item-ranges.ts'
import {
  CLOUD_FIRSTS,
  CLOUD_HEADS,
  CLOUD_RESOURCE,
  cloudResource,
  isProjectName,
} from './cloud-resources.ts'
import { HEAD_SLOTS, headSlot, type QuickCheck } from '../json/tables.ts'
import { UUID_BYTES, UUID_FIRSTS, uuidOf } from './uuids.ts'
import type { IdForms } from './provider.ts'

/** The kind of an id that may be of any. */
export const ANY_KIND = '*'
/** The kind of what came into being at an endpoint that no row knows. */
export const OF_UNKNOWN_KIND = 'object'

/** How a provider's ids are spelled: a part of its row. */
export interface Spelling {
  /** The kinds of ids by what these begin with, up to the first `-`, `_` or `:`. */
  readonly prefixes?: Readonly<Record<string, string>>
  /**
   * The kinds of resource names by the collection in which they stand. Those with a capital are no
   * words of prose.
   */
  readonly collections?: Readonly<Record<string, string>>
  readonly uuids?: boolean
  /**
   * Whether OpenAI's prefixes may stand here as well. The provider's documentation does not show
   * them: such a string is an id only where it is known as one.
   */
  readonly dialect?: true
  /** Whether its requests may name what a cloud keeps for the operator: buckets, secrets. */
  readonly clouds?: true
  readonly models?: ModelNames
}

/**
 * How names of models tell those that somebody has stored: fine-tuned ones, presets. They count
 * where a request names its model.
 */
export interface ModelNames {
  readonly kinds: readonly string[]
  /** What a name names; nothing where it is a model of the provider's. */
  refsOf(name: string): readonly ObjectRef[]
}

/** What OpenAI's ids begin with: https://platform.openai.com/docs/api-reference */
export const OPENAI_PREFIXES: Readonly<Record<string, string>> = {
  'file-': 'file',
  file_: 'file',
  'assistant-': 'file',
  resp_: 'response',
  conv_: 'conversation',
  batch_: 'batch',
  vs_: 'vector_store',
  cntr_: 'container',
  asst_: 'assistant',
  thread_: 'thread',
  'ftjob-': 'fine_tuning_job',
  'ft:': 'tuned_model',
  upload_: 'upload',
  part_: 'upload_part',
  video_: 'video',
  'chatcmpl-': 'completion',
  eval_: 'eval',
  skill_: 'skill',
  voice_: 'voice',
  cons_: 'voice_consent',
  char_: 'character',
  pmpt_: 'prompt',
  wf_: 'workflow',
  // Items of responses: https://platform.openai.com/docs/api-reference/responses/object
  msg_: ITEM,
  rs_: ITEM,
  fc_: ITEM,
  fco_: ITEM,
  ws_: ITEM,
  fs_: ITEM,
  ci_: ITEM,
  ig_: ITEM,
  cu_: ITEM,
  cuo_: ITEM,
  mcp_: ITEM,
  mcpl_: ITEM,
  mcpr_: ITEM,
  ctc_: ITEM,
  cto_: ITEM,
  lsh_: ITEM,
  sh_: ITEM,
  sho_: ITEM,
  apc_: ITEM,
  apco_: ITEM,
  cmp_: ITEM,
  tsc_: ITEM,
  tso_: ITEM,
}

/** Servers that speak OpenAI's dialect make ids of its kind, or UUIDs. */
const DIALECT: Spelling = { prefixes: OPENAI_PREFIXES, uuids: true }

/** Words of the dialects that begin as ids do, and name nothing. */
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

/** What ends a prefix. */
const isSeparator = (code: number): boolean => code === 0x2d || code === 0x5f || code === 0x3a

/** What stands up to the first separator, with that; `''` where there is none. */
function prefixOf(segment: string): string {
  for (let at = 0; at < segment.length; at++)
    if (isSeparator(segment.charCodeAt(at))) return segment.slice(0, at + 1)
  return ''
}

/**
 * The type of an input item that stands for a stored one:
 * https://platform.openai.com/docs/api-reference/responses/create
 */
export const REFERENCE = 'item_reference'
/** Characters of an id behind its prefix. */
const TAIL = /^[\w.~:-]{1,200}$/
/** A string that needs no decoding, and is no address or path. */
const PLAIN = /^[\w.~:-]+$/
/** The end of an id as providers make them: long, without words. */
const GENERATED = /^(?=.*\d)[A-Za-z0-9]{16,}$|^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** A fine-tuned model: the base model, and whose it is. */
const TUNED = /^ft:[\w.-]+:/
/**
 * Kinds that are written down only where the provider keeps them, or that clients repeat inline.
 */
const OFTEN_UNKNOWN: ReadonlySet<string> = new Set([ITEM, 'completion', 'message'])
/** What a resource name may begin with, besides its collection. */
const LEADING = /^(?:upload|download|v\d\w*|models|projects|locations|publishers)$/i
/** The name of a resource as providers make them: `files/k3j9x0a2b1c4`. */
const GENERATED_NAME = /^(?=.*\d)(?=.*[a-z])[a-z0-9]{12}$/
/** What may stand before an id, or before the collection of a resource. */
const ANYWHERE = ['h', 'H', '/', '.', '%', ' ', '\t', '\n', '\r', '\\', 'v']
const RESOURCES = ['u', 'd', 'm', 'p', 'l']
const SCHEMES = ['ht', 'Ht', 'hT', 'HT'].flatMap((head) => [`${head}tp:`, `${head}tps:`])
/** Longest string that is looked at: an address whose every letter is escaped. */
const LONGEST = 2_048
const SHORTEST = 4
/** Spaces and controls around an id, which servers take off; some end a text at a NUL. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const AROUND = /^[\s\u0000-\u001f\u007f]+|[\s\u0000-\u001f\u007f]+$|\u0000.*$/gs
const ADDRESS = /^(?:https?:)?\/\/(?:[^/?#@]*@)?([^/?#:@]*)(?::\d*)?([/?#].*)?$/is

/**
 * Compiles a provider's spellings, or the dialect's. @param hosts the provider's own, at which an
 * address names its objects
 */
export function compileIds(
  { prefixes = {}, collections = {}, uuids = false, dialect, clouds, models }: Spelling = DIALECT,
  hosts: readonly string[] = [],
): IdForms {
  const kindOf = new Map(
    Object.entries(dialect === true ? { ...OPENAI_PREFIXES, ...prefixes } : prefixes),
  )
  const kinds = new Map(
    Object.entries(collections).map(
      ([name, kind]) => [name.toLowerCase(), { kind, plain: name === name.toLowerCase() }] as const,
    ),
  )
  const ownHost = new RegExp(`(?:^|[.-])(?:${hosts.map(hostPattern).join('|') || '$.'})\\.?$`, 'i')

  const segmentRef = (segment: string): ObjectRef | null => {
    const prefix = prefixOf(segment)
    const kind = kindOf.get(prefix)
    if (kind === undefined) {
      const uuid = uuids ? uuidOf(segment) : null
      return uuid === null ? null : perhaps({ kind: ANY_KIND, id: uuid })
    }
    const tail = segment.slice(prefix.length)
    if (!TAIL.test(tail) || WORDS.has(segment) || (kind === 'tuned_model' && !TUNED.test(segment)))
      return null
    const certain =
      prefixes[prefix] !== undefined &&
      !OFTEN_UNKNOWN.has(kind) &&
      (kind === 'tuned_model' || GENERATED.test(tail))
    if (certain) return { kind, id: segment }
    const uuid = uuids && !OFTEN_UNKNOWN.has(kind) ? uuidOf(tail) : null
    return uuid === null ? perhaps({ kind, id: segment }) : { kind, id: prefix + uuid }
  }

  const pathRef = (segments: readonly string[], addressed: boolean): ObjectRef | null => {
    const resource =
      addressed || LEADING.test(segments[0]!) || kinds.has(segments[0]!.toLowerCase())
    for (const [i, segment] of segments.entries()) {
      const id = segments[i + 1]?.replace(/:[A-Za-z]+$/, '') ?? ''
      const collection = resource && TAIL.test(id) ? kinds.get(segment.toLowerCase()) : undefined
      if (collection !== undefined) {
        const certain = addressed || !collection.plain || GENERATED_NAME.test(id)
        return certain ? { kind: collection.kind, id } : perhaps({ kind: collection.kind, id })
      }
      const ref = segmentRef(segment)
      if (ref !== null) return perhaps(ref)
    }
    return null
  }

  const refOf = (given: string): ObjectRef | null => {
    // Most ids stand alone.
    if (PLAIN.test(given))
      return given.length < SHORTEST ? null : (segmentRef(given) ?? cloudRef(given))
    const text = (given.includes('%') ? decodedFully(given) : given).replaceAll(AROUND, '')
    if (text.length < SHORTEST || /\s/.test(text)) return null
    const ref = textRef(plainAddress(text))
    if (ref === null) return cloudRef(text)
    return clouds === true && ref.mayBeUnknown === true && isProjectName(text)
      ? { kind: ref.kind, id: ref.id }
      : ref
  }

  /** What names a model of somebody's is held to its scope as one. */
  const cloudRef = (text: string): ObjectRef | null => {
    const ref = clouds === true ? cloudResource(text) : null
    return ref !== null && text.startsWith('arn:') ? (models?.refsOf(text)[0] ?? ref) : ref
  }

  const textRef = (text: string): ObjectRef | null => {
    const address = ADDRESS.exec(text)
    if (address !== null && !ownHost.test(address[1] ?? '')) return null
    const path = (address === null ? text : (address[2] ?? '')).replace(/[?#].*$/s, '')
    const segments = path
      .split('/')
      .filter((segment) => segment !== '' && segment !== '.' && segment !== '..')
    if (segments.length === 0) return null
    return segments.length === 1 ? segmentRef(segments[0]!) : pathRef(segments, address !== null)
  }

  return {
    firsts: firstBytes([
      ...kindOf.keys(),
      ...([...kindOf.values()].includes(ITEM) ? [REFERENCE] : []),
      ...(uuids ? UUID_FIRSTS : ''),
      ...inAnyCase([...kinds.keys(), ...(kinds.size > 0 ? RESOURCES : [])]),
      ...ANYWHERE,
      ...(clouds === true ? [...CLOUD_HEADS, ...CLOUD_FIRSTS] : []),
    ]),
    shortest: SHORTEST,
    longest: LONGEST,
    quick: quickCheck(
      [
        ...kindOf.keys(),
        ...[...kinds.keys()].flatMap((name) => /^.*?-/.exec(name) ?? []),
        ...SCHEMES,
        ...(clouds === true ? CLOUD_HEADS : []),
        ...([...kindOf.values()].includes(ITEM) ? ['item_'] : []),
      ],
      uuids,
    ),
    refOf,
    ...(models === undefined ? {} : { models }),
  }
}

/** An id of some kind that nobody has written down: `collection_…`, `21m00Tcm4TlvDq8ikWAM`. */
const OF_ANY_KIND =
  /^(?:[A-Za-z]+[-_:])*(?:(?=[A-Za-z]*\d)[A-Za-z0-9]{16,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/
const MANY_DIGITS = 3
const ALPHANUMERIC = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'

/**
 * The forms of an endpoint that no row knows: what it makes is known by its id alone, in whatever
 * form.
 */
export function withUnknownForms(forms: IdForms): IdForms {
  const { firsts, shortest, longest, models } = forms
  return {
    ...(models === undefined ? {} : { models }),
    firsts: firstBytes([...ALPHANUMERIC, ...ANYWHERE]).map((is, byte) => is | firsts[byte]!),
    shortest,
    longest,
    refOf: (text) => {
      const ref = forms.refOf(text)
      if (ref !== null) return ref
      const id = segmentsOf(text).findLast((segment) => OF_ANY_KIND.test(segment))
      return id === undefined ? null : perhaps({ kind: ANY_KIND, id })
    },
  }
}

/** A text without spaces around it, or the segments of the path or address that it is. */
function segmentsOf(text: string): readonly string[] {
  const plain = (text.includes('%') ? decodedFully(text) : text).trim()
  return !plain.includes('/') || /\s/.test(plain) ? [plain] : plain.split(/[/?#]/)
}

/**
 * What a text names that stands where such an endpoint's request gives an id: an id as providers
 * make them, in any form; null for a name.
 *
 * @param isPublic what anybody may name there
 */
export function givenId(
  text: string,
  forms: IdForms | undefined,
  isPublic: RegExp | undefined,
): ObjectRef | null {
  if (forms === undefined || isPublic?.test(text) === true) return null
  const ref = forms.refOf(text)
  const isGenerated =
    ref !== null &&
    !OFTEN_UNKNOWN.has(ref.kind) &&
    (ref.mayBeUnknown !== true || uuidOf(ref.id) !== null || OF_ANY_KIND.test(ref.id))
  return isGenerated ? { kind: ref.kind, id: ref.id } : null
}

/**
 * What an answer of such an endpoint names as made; null where it is a name, or nothing that is
 * kept.
 */
export function madeSomewhere(id: string, unknownForms: IdForms): ObjectRef | null {
  const ref = unknownForms.refOf(id)
  if (ref === null || OFTEN_UNKNOWN.has(ref.kind) || ref.kind === CLOUD_RESOURCE) return null
  return { kind: ref.kind === ANY_KIND ? OF_UNKNOWN_KIND : ref.kind, id: ref.id }
}

/** Whether a segment of such an endpoint's path names an object: it can hardly be anything else. */
export function namesObject(segment: string, forms: IdForms): boolean {
  const ref = forms.refOf(segment)
  // Names of models are long, too, but have few digits.
  return ref === null
    ? /[-_:]/.test(segment) &&
        OF_ANY_KIND.test(segment) &&
        (segment.match(/\d/g)?.length ?? 0) >= MANY_DIGITS
    : ref.mayBeUnknown !== true || (ref.kind === ANY_KIND && segment.includes('-'))
}

/** Resource names are read in any case. */
const inAnyCase = (texts: readonly string[]): string[] =>
  texts.flatMap((text) => [text, text.toUpperCase()])

/**
 * What a byte is to a QuickCheck: 1: one that every id has among its first ones. 2: one that none
 * has, but before it. 3: one that none has.
 */
const MARKS = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[-_:/%]/.test(String.fromCharCode(byte)) ? 1 : byte <= 0x20 ? 2 : byte >= 0x80 ? 3 : 0,
)
/** Bytes within which an id has its first mark: `batchPredictionJobs/`. */
const HEAD_BYTES = 24

/**
 * @param heads what an id can begin with, up to its first mark: most keys of a body begin with
 * something else (1 µs less a request of 1 KB)
 */
function quickCheck(heads: readonly string[], uuids: boolean): QuickCheck {
  const slots = new Uint8Array(HEAD_SLOTS)
  for (const head of heads) slots[headSlot(head.charCodeAt(0), head.charCodeAt(1), head.length)] = 1
  return { marks: MARKS, headBytes: HEAD_BYTES, slots, uuids: uuids ? UUID_BYTES : null }
}

const perhaps = ({ kind, id }: ObjectRef): ObjectRef => ({ kind, id, mayBeUnknown: true })

const hostPattern = (host: string): string =>
  host
    .replaceAll(/\{\w+\}|<\w+>|\*/g, '[a-z0-9-]+')
    .replace(/\.googleapis\.com$/, String.raw`(?:.\w+)*$&`)
    .replaceAll('.', String.raw`\.`)

/**
 * 1 for each byte with which a string can begin that is looked at: an id, a resource name, an
 * address; a space or an escape before one of these.
 */
function firstBytes(begins: readonly string[]): Uint8Array {
  const firsts = new Uint8Array(256)
  for (const text of begins) firsts[text.charCodeAt(0)] = 1
  return firsts
}
