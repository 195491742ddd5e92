// Readers by themselves: of requests, responses, JSON, forms, usage and targets.
import assert from 'node:assert/strict'
import { METHODS, request as httpRequest, type IncomingMessage } from 'node:http'
import { duplexPair } from 'node:stream'
import {
  isForPath,
  pathMarker,
  RequestError,
  RequestParser,
  type RequestHead,
} from '../../server/http1/request-parser.ts'
import { without } from '../../server/http1/header-fields.ts'
import { wantPaths } from '../../server/proxy/json/paths.ts'
import { JsonScanner } from '../../server/proxy/json/scanner.ts'
import { AwsReader } from '../../server/proxy/usage/aws-event-stream.ts'
import { CreatedIds } from '../../server/proxy/usage/created-ids.ts'
import { JsonReader } from '../../server/proxy/usage/json.ts'
import type { Reader } from '../../server/proxy/usage/reader.ts'
import { SseReader } from '../../server/proxy/usage/event-stream.ts'
import { readTarget } from '../../server/proxy/parse-target.ts'
import { ProtocolError, ResponseParser } from '../../server/http1/client/response-parser.ts'
import type { Chance } from './chance.ts'
import { responses, requests } from './http.ts'
import { nodesRequests } from './oracle.ts'
import { plain, sameForAllSplits } from './target.ts'

/** More bytes than a head may have are never kept without a decision. */
const MAX_UNDECIDED_BYTES = 16 * 1024 + 4

type Seen = { method: string; head: string; body: string }

const PROXY = pathMarker('/proxy')

function readRequests(pieces: readonly Buffer[]): { seen: Seen[]; refused: boolean } {
  const reader = new RequestParser()
  const seen: Seen[] = []
  let inBody = false
  let last = false
  try {
    for (const piece of pieces) {
      reader.push(piece)
      for (;;) {
        if (!inBody) {
          // What is not for the proxy is handed to Node's server.
          const ours = reader.unread.length === 0 ? null : isForPath(reader.unread, PROXY)
          last ||= ours === false
          const head: RequestHead | null = last || ours === null ? null : reader.nextHead()
          if (head === null) break
          seen.push({
            method: head.method,
            head: JSON.stringify([head.method, head.target, head.headers]),
            body: '',
          })
          last = !head.keepAlive
          inBody = true
        }
        for (let part = reader.nextChunk(); part !== null; part = reader.nextChunk())
          seen.at(-1)!.body += part.toString('latin1')
        if (!reader.ended) break
        inBody = false
      }
      if (!last && !inBody)
        assert.ok(
          reader.unread.length <= MAX_UNDECIDED_BYTES + piece.length,
          'a head is decided on in time',
        )
    }
    // A body that has not ended is nobody's request.
    return { seen: inBody ? seen.slice(0, -1) : seen, refused: false }
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    return { seen: inBody ? seen.slice(0, -1) : seen, refused: true }
  }
}

/** Of requests: what Node does not take, we do not; what both take is the same. */
export const requestReader = plain(async (chance) => {
  const bytes = requests(chance, ['/proxy?url=a', '/proxy', '/proxy?"<>', '/proxy?\xe4'])
  const { seen: all } = sameForAllSplits(chance, bytes, readRequests)
  // A method that nobody knows is refused by the handler.
  const strange = all.findIndex(({ method }) => !METHODS.includes(method))
  const seen = (strange < 0 ? all : all.slice(0, strange)).map(({ head, body }) => ({ head, body }))
  // Its own server for each case makes Node's the slow half.
  if (seen.length === 0 || !chance.happens(0.3)) return
  const theirs = await nodesRequests(bytes)
  assert.ok(
    seen.length <= theirs.length,
    `${seen.length} requests, where Node takes ${theirs.length}`,
  )
  assert.deepEqual(seen, theirs.slice(0, seen.length))
})

type ParsedResponse = {
  status: number
  headers: string[]
  body: string
  complete: boolean
  after: boolean
}

function readResponse(method: string, pieces: readonly Buffer[]): ParsedResponse | null {
  const found: ParsedResponse = { status: 0, headers: [], body: '', complete: false, after: false }
  const reader = new ResponseParser({
    onInterim: (status) => assert.ok(status >= 100 && status < 200 && status !== 101),
    onHead(status, _, headers) {
      assert.equal(found.status, 0, 'one head')
      Object.assign(found, { status, headers })
    },
    onBody: (chunk) => void (found.body += chunk.toString('latin1')),
    onEnd() {
      assert.ok(!found.complete && found.status !== 0, 'one end, behind a head')
      found.complete = true
    },
    onPause() {},
  })
  reader.begin(method)
  try {
    for (const piece of pieces) if (piece.length > 0) reader.push(piece)
    reader.finish()
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    found.after = true
    // How much of a broken response was passed on depends on how it came.
    if (!found.complete) return null
  }
  return found
}

/** Of responses: what is complete for us and for Node is the same. */
export const responseReader = plain(async (chance) => {
  const method = chance.happens(0.2) ? 'HEAD' : 'GET'
  const bytes = responses(chance)
  const ours = sameForAllSplits(chance, bytes, (pieces) => {
    const response = readResponse(method, pieces)
    return response === null ? null : { ...response, after: undefined }
  })
  if (ours === null || !ours.complete || !chance.happens(0.3)) return
  const theirs = await responseOfNode(method, bytes)
  if (theirs === null) return
  // A length that frames nothing may be left out (RFC 9110, section 8.6).
  const kept = ({
    status,
    headers,
    body,
  }: Pick<ParsedResponse, 'status' | 'headers' | 'body'>) => ({
    status,
    headers: status === 204 ? without(headers, 'content-length') : headers,
    body,
  })
  assert.deepEqual(kept(ours), kept(theirs))
})

/** What Node's own client makes of a response; null where it is none to it. */
function responseOfNode(
  method: string,
  bytes: Buffer,
): Promise<Pick<ParsedResponse, 'status' | 'headers' | 'body'> | null> {
  const [near, far] = duplexPair()
  return new Promise((resolve) => {
    const outgoing = httpRequest({ createConnection: () => near, method })
    outgoing.on('error', () => resolve(null)).on('close', () => resolve(null))
    outgoing.on('upgrade', () => resolve(null))
    outgoing.on('response', (incoming: IncomingMessage) => {
      let body = ''
      incoming.on('data', (piece: Buffer) => (body += piece.toString('latin1')))
      incoming.on('error', () => resolve(null))
      incoming.on('end', () =>
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.rawHeaders, body }),
      )
    })
    outgoing.end()
    far.on('error', () => {}).resume()
    far.end(bytes)
  })
}

/** Any JSON value, with the keys that matter more often than others. */
function value(chance: Chance, depth = 0): unknown {
  const kind = chance.below(depth > 5 ? 5 : 7)
  if (kind === 0) return null
  if (kind === 1) return chance.happens(0.5)
  if (kind === 2) return chance.pick([0, -1, 1.5, 1e300, -0.0001, 2 ** 60])
  if (kind <= 4)
    return chance.pick([
      '',
      'gpt-5',
      'a"b\\c',
      '\u{1F680}',
      '\u0000\u001f',
      'model',
      '\ud800',
      'x'.repeat(chance.below(100)),
    ])
  if (kind === 5) return chance.list(4, () => value(chance, depth + 1))
  return Object.fromEntries(
    chance.list(4, () => [
      chance.pick(['model', 'a', 'b', '', 'messages', 'Model', 'x y', 'é']),
      value(chance, depth + 1),
    ]),
  )
}

/** The same value, written with blanks and escapes as a person or a program might. */
function written(chance: Chance, value: unknown): string {
  const text = JSON.stringify(value, null, chance.pick([0, 1, '\t', '\r\n']))
  return chance.happens(0.8) ? text : text.replaceAll(/m(?=odel)/g, '\\u006d')
}

const JSON_PIECES = [
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  'null',
  '1',
  '-',
  '1e',
  '\\u006d',
  '"model":"x",',
  '//',
  "'",
  ' ',
  '\0',
  'NaN',
  '\ufeff',
  '[['.repeat(300),
]
const WANTED = wantPaths(['model', 'messages[].model', 'a.model'])

function scan(strict: boolean, pieces: readonly Buffer[]) {
  const values: string[] = []
  const oddities: string[] = []
  const scanner = new JsonScanner(
    WANTED,
    {
      value: (path, raw) => void values.push(`${path}=${raw?.toString('utf8')}`),
      oddity: (kind, path) => void oddities.push(`${kind} ${path}`),
    },
    { strict },
  )
  for (const piece of pieces) scanner.write(piece)
  scanner.end()
  return { ok: scanner.ok && scanner.complete, values, oddities }
}

/**
 * Of JSON: whatever JSON.parse reads is read, and the model that it names is found or said to be in
 * doubt.
 */
export const json = plain((chance) => {
  const text = written(chance, { model: 'gpt-5', ...Object(value(chance)) })
  const bytes = Buffer.from(chance.happens(0.4) ? text : chance.mutated(text, JSON_PIECES), 'utf8')
  const strict = sameForAllSplits(chance, bytes, (pieces) => scan(true, pieces))
  const lenient = sameForAllSplits(chance, bytes, (pieces) => scan(false, pieces))
  let parsed: unknown
  try {
    parsed = JSON.parse(bytes.toString('utf8'))
  } catch {
    return
  }
  // What is nested too deeply for us is refused.
  if (/(?:\[\s*){500}/.test(bytes.toString('latin1'))) return
  assert.ok(strict.ok, 'RFC 8259 is read')
  assert.ok(lenient.ok, 'and so it is by the lenient reader')
  const model: unknown =
    typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) && 'model' in parsed
      ? parsed.model
      : undefined
  if (typeof model !== 'string') return
  const found = strict.values
    .filter((one) => one.startsWith('model='))
    .map((one): unknown => JSON.parse(one.slice('model='.length)))
  assert.ok(
    found.includes(model) || strict.oddities.length > 0,
    `the model ${JSON.stringify(model)} is found, or in doubt`,
  )
})

const EVENT_PIECES = [
  '\n',
  '\r',
  '\r\n',
  '\n\n',
  'data:',
  'data: ',
  '"usage":',
  '"usage":null',
  '\\"usage',
  ': x\n',
  'event: y\n',
  '\0',
  '{"id":"resp_2","usage":{"total_tokens":3}}',
  '\ufeff',
  'x'.repeat(3_000),
]

/** TABLE of readers of usage. */
const READERS: readonly ((created: CreatedIds) => Reader)[] = [
  (created) => new SseReader(created),
  (created) => new JsonReader(created),
  (created) => new AwsReader(created),
]

/** Of usage: never an error, and of events that are whole the same for all splits. */
export const meter = plain((chance) => {
  const event = (): string =>
    JSON.stringify({
      id: 'resp_1',
      usage: { input_tokens: chance.below(100), output_tokens: 2 },
      more: value(chance),
    })
  const events = chance
    .list(6, () => `data: ${event()}${chance.pick(['\n\n', '\r\n\r\n', '\r\r'])}`)
    .join('')
  const make = chance.pick(READERS)
  const read = (pieces: readonly Buffer[]) => {
    const created = new CreatedIds({ id: 'response', 'more[].id': 'item' })
    const reader = make(created)
    for (const piece of pieces) reader.write(piece)
    reader.end()
    return { usage: reader.findings().at(-1), created: created.objects.map(({ id }) => id).sort() }
  }
  sameForAllSplits(chance, Buffer.from(events), read)
  // Which of many broken events are kept for the end depends on how they came.
  const broken = Buffer.from(chance.mutated(events, EVENT_PIECES))
  read([broken])
  read(chance.split(broken))
})

const TARGETS = [
  ...[
    'https%3A%2F%2Fapi.openai.com%2Fv1%2Fchat%2Fcompletions',
    'https://generativelanguage.googleapis.com/v1beta/models/gemini:streamGenerateContent?alt=sse',
    'https%3A%2F%2Fx.com%3A8443%2F%3Fa%3Db%26key%3Dc',
  ].map((address) => `/proxy?url=${address}`),
  '/proxy/generativelanguage.googleapis.com/v1beta/models/gemini:streamGenerateContent?alt=sse&key=c',
  '/proxy/x.com:8443/a/b?c=d',
]
const TARGET_PIECES = [
  '%2e',
  '..',
  '%2f',
  '//',
  '\\',
  '%5c',
  '@',
  ':',
  '#',
  '%23',
  '?',
  '&',
  '%00',
  '%0d%0a',
  '%25',
  '%252e',
  ';',
  '[::1]',
  'xn--',
  '\u00e9',
  '%c3%a9',
  '%ff',
  '+',
  'url=',
  'https://',
  '127.0.0.1',
  '.',
]

/**
 * Of targets: what is taken means the same to every URL parser, and nothing that is sent could end
 * a line.
 */
export const target = plain((chance) => {
  const found = readTarget(chance.mutated(chance.pick(TARGETS), TARGET_PIECES, 5))
  if (!found.ok) return
  const { hostname, port, pathAndQuery } = found.upstream
  // oxlint-disable-next-line no-control-regex -- that is what must not be there
  assert.doesNotMatch(pathAndQuery, /[\u0000-\u0020\u007f-\uffff#\\]/)
  // oxlint-disable-next-line no-control-regex -- that is what must not be there
  assert.doesNotMatch(hostname, /[\u0000-\u0020\u007f-\uffff/\\?#@%A-Z]/)
  // Segments of dots are the endpoint's to refuse.
  if (/\/\.{1,2}(?:[/?]|$)/.test(pathAndQuery)) return
  const url = new URL(`https://${hostname}:${port}${pathAndQuery}`)
  assert.deepEqual(
    [url.hostname, url.pathname, url.hash, url.username],
    [hostname, pathAndQuery.split('?')[0], '', ''],
  )
})
