// Reads from the bytes of a response in transit how many tokens it used and which objects it
// created. Step 9 of the contract. It never delays or changes a byte: it gets a copy of each chunk,
// and compressed responses are decoded separately.
import { valueOf, valuesOf, nameAt, valueAt } from '../../http1/header-fields.ts'
import { codingsOf, Decoding } from '../forward/content-decoding.ts'
import { AwsReader } from './aws-event-stream.ts'
import { CreatedIds, type CreatedPaths } from './created-ids.ts'
import type { Reader } from './reader.ts'
import { SniffingReader } from './sniff.ts'
import { type Finding, mergeFindings, UNKNOWN, type Usage } from './usage.ts'
import { askedFor, parametersOf, type Match } from '../providers/endpoint.ts'
import { objectRef, type ObjectRef } from '../providers/object-ref.ts'
import type { Provider, UsageKind } from '../providers/provider.ts'

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
 * How much compressed input may wait for the decoder, in bytes; beyond it the usage is unknown
 * rather than the memory unbounded.
 */
const MOST_WAITING = 8 * 1024 * 1024

/**
 * TABLE of content types and their readers; the first match counts. For text of any other type, its
 * beginning decides.
 */
const READERS: readonly { type: RegExp; reader: (created: CreatedIds) => Reader | null }[] = [
  {
    type: /^application\/vnd\.amazon\.eventstream\b/i,
    reader: (created) => new AwsReader(created),
  },
  { type: /^(?:audio|font|image|multipart|video)\//i, reader: () => null },
  { type: /^text\/event-stream\b/i, reader: (created) => new SniffingReader(created, 'sse') },
  {
    type: /^application\/(?:x-)?(?:ndjson|jsonl|json-lines|json-seq|stream\+json)\b/i,
    reader: (created) => new SniffingReader(created, 'json'),
  },
  {
    type: /^(?:application|text)\/(?:[\w.-]+\+)?json\b/i,
    reader: (created) => new SniffingReader(created, 'json'),
  },
  { type: /^/, reader: (created) => new SniffingReader(created, null) },
]

/** For endpoints that create no object: one shared value, so that compiled paths are shared. */
const NONE: CreatedPaths = {}

/**
 * Creates the meter of one response.
 * @param provider the provider of the response
 * @param match the called endpoint; lists and polls are not metered, because repeated usage would
 *   be counted twice
 * @param headers the upstream's response headers as a raw list
 * @param kept whether the request asked the provider to keep the response
 */
export function createUsageMeter(
  provider: Provider,
  match: Match,
  headers: readonly string[],
  kept = false,
): UsageMeter {
  const kind = usageKind(provider, match)
  const created = new CreatedIds(createsOf(match, kept))
  for (const [name, made] of Object.entries(match.endpoint?.createsInHeaders ?? {}))
    for (const id of valuesOf(headers, name)) created.add(objectRef(made, id))
  const { type, fromHeaders } = readHeaders(headers)
  if (provider.asks !== undefined)
    for (const upload of begun(headers, provider)) created.add(upload)
  const deaf: UsageMeter = {
    created: created.objects,
    write() {},
    end: () => (kind === null ? null : fromHeaders) ?? UNKNOWN,
  }
  const reader =
    kind === null && created.creates === NONE
      ? null
      : (READERS.find((row) => row.type.test(type))?.reader(created) ?? null)
  const codings = codingsOf(headers)
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
  return { created: created.objects, ...decoded(codings, read, settle) }
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
  if (rest === undefined)
    unkeptBy.set(
      creates,
      (rest = Object.fromEntries(Object.entries(creates).filter(([, kind]) => kind !== kept))),
    )
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
  read: (bytes: Buffer) => void,
  settle: () => Usage,
): Pick<UsageMeter, 'write' | 'end'> {
  const ended = Promise.withResolvers<void>()
  const decoding = new Decoding(codings, read, ended.resolve)
  return {
    write(chunk) {
      // The decoder reads later, in another thread, when the buffer already has the next response's
      // bytes.
      decoding.write(Buffer.from(chunk))
      if (decoding.waiting > MOST_WAITING) decoding.stop()
    },
    async end() {
      decoding.end()
      await ended.promise
      return settle()
    },
  }
}

const BEDROCK = 'x-amzn-bedrock-'

/**
 * The id of the upload, from the address of its next request (https://ai.google.dev/api/files).
 */
function begun(
  raw: readonly string[],
  { asks = {}, objectHeaders = {} }: Provider,
): readonly ObjectRef[] {
  const address = valueOf(raw, 'x-goog-upload-url')
  if (address === undefined || !URL.canParse(address)) return []
  const named = Object.entries(objectHeaders).flatMap(([name, kind]) =>
    valuesOf(raw, name).map((id) => ({ kind, id })),
  )
  return [...askedFor(asks, parametersOf(new URL(address).search.slice(1))), ...named]
}

/**
 * The data from headers: type, and Bedrock's token counts
 * (https://docs.aws.amazon.com/bedrock/latest/userguide/inference-invoke.html).
 */
function readHeaders(raw: readonly string[]): { type: string; fromHeaders: Usage | null } {
  const tokens: Record<string, number> = {}
  for (let i = 0; i < raw.length; i += 2) {
    const name = nameAt(raw, i)
    if (name.length <= BEDROCK.length || !name.toLowerCase().startsWith(BEDROCK)) continue
    if (/^\d{1,9}$/.test(valueAt(raw, i)))
      tokens[name.toLowerCase().slice(BEDROCK.length)] = Number(raw[i + 1])
  }
  const cached = tokens['cache-read-input-token-count'] ?? null
  const written = tokens['cache-write-input-token-count'] ?? null
  const input = tokens['input-token-count'] ?? null
  const output = tokens['output-token-count'] ?? null
  const fromHeaders =
    input === null && output === null
      ? null
      : {
          ...UNKNOWN,
          tokens_in: input === null ? null : input + (cached ?? 0) + (written ?? 0),
          tokens_out: output,
          tokens_cached: cached,
          tokens_cache_write: written,
        }
  return { type: valuesOf(raw, 'content-type').at(-1) ?? '', fromHeaders }
}
