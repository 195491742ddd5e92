// Reads from the bytes of a response in transit how many tokens it used and which objects it
// created. Step 9 of pipeline.ts. It never delays or changes a byte: it gets a copy of each chunk,
// and compressed responses are decoded separately.
import type { Owner } from '../../common/fairness/account-key-queue.ts'
import { NO_BYTES, valueOf, valuesOf } from '../../http1/header-fields.ts'
import { codingsOf } from '../forward/content-decoding.ts'
import { Decoding } from '../forward/decoding.ts'
import { AwsReader } from './aws-event-stream.ts'
import { CreatedIds, NOTHING_CREATED, type CreatedPaths } from './created-ids.ts'
import { JsonReader } from './json.ts'
import type { Reader } from './reader.ts'
import { begunUploads, usageInHeaders } from './response-headers.ts'
import { SseReader, usageMarker } from './event-stream.ts'
import { type Finding, mergeFindings, UNKNOWN, type Usage } from './usage.ts'
import type { Match } from '../providers/match.ts'
import { objectRef, type ObjectRef } from '../providers/object-ref.ts'
import type { Provider } from '../providers/provider.ts'
import type { UsageKind } from '../providers/wire-format.ts'

export { UNKNOWN, type Usage } from './usage.ts'

/** Observes one response in transit. It never fails. */
export interface UsageMeter {
  /**
   * The objects that the response is known to have created so far, for stickiness and ownership.
   */
  readonly created: readonly ObjectRef[]
  /** Reads the next bytes from the upstream, split anywhere. Copies what it keeps. */
  write(chunk: Buffer): void
  /**
   * Ends the response, complete or truncated, and returns the result: synchronously, unless a
   * decoder has to end first. Never rejects.
   */
  end(): Usage | Promise<Usage>
}

/**
 * TABLE of content types and their readers; the first match counts. For text of any other type, its
 * beginning decides.
 */
const READERS: readonly {
  type: RegExp
  reader: (created: CreatedIds, marker: Buffer) => Reader | null
}[] = [
  {
    type: /^application\/vnd\.amazon\.eventstream\b/i,
    reader: (created) => new AwsReader(created),
  },
  { type: /^(?:audio|font|image|multipart|video)\//i, reader: () => null },
  {
    type: /^text\/event-stream\b/i,
    reader: (created, marker) => new SniffingReader(created, marker, 'sse'),
  },
  {
    type: /^application\/(?:x-)?(?:ndjson|jsonl|json-lines|json-seq|stream\+json)\b/i,
    reader: (created, marker) => new SniffingReader(created, marker, 'json'),
  },
  {
    type: /^(?:application|text)\/(?:[\w.-]+\+)?json\b/i,
    reader: (created, marker) => new SniffingReader(created, marker, 'json'),
  },
  { type: /^/, reader: (created, marker) => new SniffingReader(created, marker, null) },
]

/** For endpoints that create no object: one shared value, so that compiled paths are shared. */
const NONE = NOTHING_CREATED.creates
/** The codings of a body that has none. */
const NOT_CODED: readonly string[] = []

/**
 * Creates the meter of one response.
 * @param provider the provider of the response
 * @param match the called endpoint; lists and polls are not metered, because repeated usage would
 *   be counted twice
 * @param headers the upstream's response headers as a raw list
 * @param owner the owner in whose turns a compressed response is read
 * @param kept whether the request asked the provider to keep the response
 */
export function createUsageMeter(
  provider: Provider,
  match: Match,
  headers: readonly string[],
  owner: Owner,
  kept = false,
): UsageMeter {
  const kind = usageKind(provider, match)
  const created = createdIn(provider, match, headers, kept)
  const type = valuesOf(headers, 'content-type').at(-1) ?? ''
  const fromHeaders = provider.usage === 'bedrock' ? usageInHeaders(headers) : null
  const deaf: UsageMeter = {
    created: created.objects,
    write() {},
    end: () => (kind === null ? null : fromHeaders) ?? UNKNOWN,
  }
  const reader =
    kind === null && created.creates === NONE
      ? null
      : (READERS.find((row) => row.type.test(type))?.reader(created, usageMarker(kind)) ?? null)
  const isCoded = valueOf(headers, 'content-encoding') !== undefined
  const codings = isCoded ? codingsOf(headers) : NOT_CODED
  if (reader === null || codings === null) return deaf
  const settle = (): Usage => {
    let findings: readonly Finding[] = []
    try {
      reader.end()
      findings = reader.findings()
    } catch {
      // A reader's failure must never reach the stream that it observes.
    }
    return kind === null
      ? UNKNOWN
      : findings.length === 0 && fromHeaders !== null
        ? fromHeaders
        : mergeFindings(findings, kind)
  }
  const read = behindMark(reader)
  if (codings.length === 0) return { created: created.objects, write: read, end: settle }
  return { created: created.objects, ...decoded(codings, owner, read, settle) }
}

/** Collects the objects that a response creates, beginning with those in its headers. */
function createdIn(
  provider: Provider,
  match: Match,
  headers: readonly string[],
  kept: boolean,
): CreatedIds {
  const creates = createsOf(match, kept)
  const inHeaders = match.endpoint?.createsInHeaders
  if (creates === NONE && inHeaders === undefined && provider.asks === undefined)
    return NOTHING_CREATED
  const created = new CreatedIds(creates)
  for (const [name, made] of Object.entries(inHeaders ?? {}))
    for (const id of valuesOf(headers, name)) created.add(objectRef(made, id))
  if (provider.asks !== undefined)
    for (const upload of begunUploads(headers, provider)) created.add(upload)
  return created
}

/**
 * The objects that the response may create; some kinds only if the request asked to store them.
 */
function createsOf({ endpoint, creates }: Match, kept: boolean): CreatedPaths {
  if (endpoint?.creates === undefined) return endpoint === null ? (creates ?? NONE) : NONE
  return endpoint.kept === undefined || kept
    ? endpoint.creates
    : unkept(endpoint.creates, endpoint.kept)
}

const unkeptBy = new WeakMap<CreatedPaths, CreatedPaths>()

/** One value for each row, so that compiled paths are shared. */
function unkept(creates: CreatedPaths, kept: string): CreatedPaths {
  let rest = unkeptBy.get(creates)
  if (rest === undefined) {
    const others = Object.entries(creates).filter(([, kind]) => kind !== kept)
    rest = others.length === 0 ? NONE : Object.fromEntries(others)
    unkeptBy.set(creates, rest)
  }
  return rest
}

/** The rule that counts this response's tokens, or null for a response that is not counted. */
function usageKind(provider: Provider, match: Match): UsageKind | null {
  const { endpoint } = match
  if (endpoint === null) return match.class === 'unknown' ? provider.usage : null
  return endpoint.usage !== undefined && endpoint.class === 'neutral'
    ? endpoint.usage
    : endpoint.class === 'model'
      ? (endpoint.usage ?? provider.usage)
      : null
}

/** UTF-8's byte order mark, which some servers write before a text. */
const MARK = [0xef, 0xbb, 0xbf]

/** Passes a reader the bytes after a byte order mark. */
function behindMark(reader: Reader): (bytes: Buffer) => void {
  let seen = 0
  return (bytes) => {
    let from = 0
    while (seen < MARK.length && from < bytes.length) {
      if (bytes[from] !== MARK[seen++]) seen = MARK.length
      else from++
    }
    reader.write(from === 0 ? bytes : bytes.subarray(from))
  }
}

/** Runs decoders beside the stream. */
function decoded(
  codings: readonly string[],
  owner: Owner,
  read: (bytes: Buffer) => void,
  settle: () => Usage,
): Pick<UsageMeter, 'write' | 'end'> {
  const ended = Promise.withResolvers<void>()
  const decoding = new Decoding(codings, owner, read, ended.resolve)
  return {
    write(chunk) {
      // The decoder reads later, in another thread, when the buffer already has the next response's
      // bytes.
      decoding.write(Buffer.from(chunk))
    },
    async end() {
      decoding.end()
      await ended.promise
      return settle()
    },
  }
}

/**
 * The beginning of a response: blank lines, then an object, a list, or a line of an event (a
 * comment has no name).
 */
const BEGINNING =
  /^[ \t\r\n]*(?:(?<json>[{[])|(?<sse>(?:data|event|id|retry)?:)|(?<neither>[^ \t\r\n]))/
/** An incomplete name of such a line. */
const UNDECIDED = /^[ \t\r\n]*(?:d(?:a(?:ta?)?)?|e(?:v(?:e(?:nt?)?)?)?|id?|r(?:e(?:t(?:ry?)?)?)?)?$/
/** Maximum bytes that are examined. */
const MOST = 256

const [OBJECT, LIST, SPACE] = [0x7b, 0x5b, 0x20]

type Kind = 'json' | 'sse'

/**
 * Reads a response as JSON or server-sent events, as its first bytes indicate, because not every
 * server names the type.
 */
class SniffingReader implements Reader {
  readonly #created: CreatedIds
  readonly #marker: Buffer
  readonly #otherwise: Kind | null
  /** The bytes before the type was clear; null afterwards. */
  #beginning: Buffer | null = NO_BYTES
  /** Null: this response is not readable. */
  #reader: Reader | null = null

  /**
   * @param marker see `usageMarker`
   * @param otherwise the reader for any other beginning; null: not readable
   */
  constructor(created: CreatedIds, marker: Buffer, otherwise: Kind | null) {
    this.#created = created
    this.#marker = marker
    this.#otherwise = otherwise
  }

  write(chunk: Buffer): void {
    if (this.#beginning === null) return this.#reader?.write(chunk)
    // For nearly all responses, the first byte decides.
    // oxlint-disable-next-line typescript/no-non-null-assertion -- a chunk has a byte, and the beginning is there until the kind is known
    const first = this.#beginning.length > 0 ? 0 : chunk[0]!
    if (first === OBJECT || first === LIST) return this.#begin('json').write(chunk)
    if (first > SPACE && this.#otherwise === 'sse') return this.#begin('sse').write(chunk)
    this.#beginning =
      this.#beginning.length === 0
        ? Buffer.from(chunk.subarray(0, MOST))
        : Buffer.concat([this.#beginning, chunk.subarray(0, MOST)])
    const text = this.#beginning.toString('latin1', 0, MOST)
    if (UNDECIDED.test(text) && text.length < MOST) return
    this.#decide(text, chunk)
  }

  end(): void {
    if (this.#beginning !== null) this.#decide(this.#beginning.toString('latin1', 0, MOST), null)
    this.#reader?.end()
  }

  findings(): readonly Finding[] {
    return this.#reader?.findings() ?? []
  }

  /** @param last the piece in which the beginning ends */
  #decide(text: string, last: Buffer | null): void {
    const found = BEGINNING.exec(text)?.groups
    const blank = found === undefined
    const kind =
      blank || found['json'] !== undefined
        ? 'json'
        : found['sse'] !== undefined
          ? 'sse'
          : this.#otherwise
    // oxlint-disable-next-line typescript/no-non-null-assertion -- a chunk has a byte, and the beginning is there until the kind is known
    const begun = this.#beginning!
    this.#beginning = null
    if (kind === null) return
    const reader = this.#begin(kind)
    reader.write(begun)
    if (last !== null && last.length > MOST) reader.write(last.subarray(MOST))
  }

  #begin(kind: Kind): Reader {
    this.#beginning = null
    return (this.#reader =
      kind === 'json' ? new JsonReader(this.#created) : new SseReader(this.#created, this.#marker))
  }
}
