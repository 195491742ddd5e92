// TABLE of readers of heads and URLs.
import type { IncomingMessage } from 'node:http'
import { parse as parseCookies } from 'hono/utils/cookie'
import { readClient } from '../../server/common/client-info.ts'
import { readKey } from '../../server/conversion/idempotency.ts'
import { isForPath, pathMarker, RequestParser } from '../../server/http1/request-parser.ts'
import { valueOf, valuesOf } from '../../server/http1/header-fields.ts'
import { normalizeOrigin } from '../../server/keys/authenticate.ts'
import { compileScope, scopeEntryProblem } from '../../server/keys/scope.ts'
import { requestHeaders, responseHeaders } from '../../server/proxy/forward/apply-header-rules.ts'
import { queryModels } from '../../server/proxy/inspect/outside-body.ts'
import { boundaryOf } from '../../server/proxy/inspect/boundaries.ts'
import { classify } from '../../server/proxy/providers/endpoint.ts'
import { createProviderTable } from '../../server/proxy/providers/table.ts'
import { readAddress, readTarget } from '../../server/proxy/parse-target.ts'
import { ResponseParser } from '../../server/http1/client/response-parser.ts'
import { createRouteCache } from '../../server/proxy/find-route.ts'
import { parsePublicId } from '../../server/common/issued-secrets.ts'
import { fill, ofHead, ofRows, split, type Row } from './row.ts'

const table = createProviderTable()
const google = table.byId('google')!
const openai = table.byId('openai')!
const nothing = { onInterim() {}, onHead() {}, onBody() {}, onEnd() {}, onPause() {} }

/** TABLE of texts in a query or path. */
const TEXTS: Readonly<Record<string, string>> = {
  letters: 'a',
  slashes: '/',
  'encoded slashes': '%2f',
  percents: '%25',
  dots: '.',
  'encoded dots': '%2e',
  ampersands: '&',
  equals: 'a=b&',
  colons: ':',
  semicolons: ';',
  'two letters': 'ab/',
  dashes: '-',
  'spaces encoded': '%20',
  'model=': 'model=a&',
  'not decodable': '%ff',
  stars: '*',
}

const overTexts = (name: string, make: (text: string) => () => unknown): Row[] =>
  Object.entries(TEXTS).map(([what, unit]) =>
    ofHead(`${name}: ${what}`, (size) => make(fill(unit, size))),
  )

const head = (lines: string, piece?: number) => () => {
  const reader = new RequestParser()
  try {
    for (const part of split(
      Buffer.from(`POST /proxy?url=x HTTP/1.1\r\nHost: x\r\n${lines}\r\n`, 'latin1'),
      piece,
    )) {
      reader.push(part)
      reader.nextHead()
    }
  } catch {
    // Too many, or malformed: then this measures the refusal.
  }
}

const responseHead = (lines: string, piece?: number) => () => {
  const reader = new ResponseParser(nothing)
  reader.begin('GET')
  for (const part of split(Buffer.from(`HTTP/1.1 200 OK\r\n${lines}\r\n`, 'latin1'), piece))
    reader.push(part)
}

/** The path that the connection router looks for. */
const PROXY = pathMarker('/proxy')
const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n0\r\n'

const requestTrailers = (lines: string, piece: number) => () => {
  const reader = new RequestParser()
  let begun = false
  for (const part of split(
    Buffer.from(`POST /proxy?url=x HTTP/1.1\r\nHost: x\r\n${CHUNKED}${lines}\r\n`, 'latin1'),
    piece,
  )) {
    reader.push(part)
    begun ||= reader.nextHead() !== null
    if (begun) reader.nextChunk()
  }
}

/** A header of this size, for a list of them. */
const fields = (size: number, value = 'b'): string[] =>
  Array.from({ length: Math.min(250, Math.ceil(size / 64)) }, (_, i) => [
    `x-field-${i}`,
    fill(value, size / Math.min(250, Math.ceil(size / 64))),
  ]).flat()

const forwarded = (name: string, value: string) => {
  const incoming = {
    headers: { host: 'x', [name]: value },
    socket: {},
  } as unknown as IncomingMessage
  return () => readClient(incoming, true)
}

const context = {
  upstream: table.find('api.openai.com', 443)!,
  table,
  pathAndQuery: '/v1/x',
  form: 'parameter',
  ownOrigin: () => '',
} as const

export const HEADS: readonly Row[] = [
  ...overTexts('target', (text) => () => readTarget(`/proxy?url=https://api.openai.com/${text}`)),
  ...overTexts('address', (text) => () => readAddress(`https://api.openai.com/${text}?${text}`)),
  ...overTexts('host', (text) => () => readAddress(`https://${text}.com/`)),
  ...overTexts('query of models', (text) => () => queryModels(`/v1/x?${text}`)),
  ...overTexts(
    'endpoint of Google',
    (text) => () => classify(google, 'POST', `/v1beta/models/${text}`),
  ),
  ...overTexts('endpoint of OpenAI', (text) => () => classify(openai, 'POST', `/v1/${text}`)),
  ...overTexts('route', (text) => {
    const routes = createRouteCache({ table })
    const target = `/proxy?url=https%3A%2F%2F${text}`
    return () => routes.find({ method: 'POST', target, headers: [] })
  }),
  ofHead('request head: small fields', (size) => head(fill('A:b\r\n', size - (size % 5)))),
  ofHead('request head: one field', (size) => head(`A: ${'b'.repeat(size - 200)}\r\n`)),
  ofHead('request head: Connection names', (size) =>
    head(`Connection: ${fill('a,', size - 200)}\r\n`),
  ),
  ofHead('request head: blanks', (size) => head(`A:${' '.repeat(size - 200)}b\r\n`)),
  ofHead('request head: blanks before Content-Length', (size) =>
    head(`Content-Length:${' '.repeat(size - 200)}0\r\n`),
  ),
  ofHead('request head: not Content-Length', (size) =>
    head(fill('\r\ncontent-length', size - 200)),
  ),
  ofHead('request head, byte by byte', (size) => head(`A: ${'b'.repeat(size - 200)}\r\n`, 1)),
  ofHead('response head: small fields', (size) => responseHead(fill('A:b\r\n', size - (size % 5)))),
  ofHead('response head: Connection names', (size) =>
    responseHead(`Connection: ${fill('a,', size)}\r\n`),
  ),
  ofHead('response head: Keep-Alive', (size) =>
    responseHead(`Keep-Alive: ${fill('timeout=', size)}\r\n`),
  ),
  ofHead('response head, byte by byte', (size) => responseHead(`A: ${'b'.repeat(size)}\r\n`, 1)),
  ofHead('request trailers, byte by byte', (size) =>
    requestTrailers(`A: ${'b'.repeat(size)}\r\n`, 1),
  ),
  ofHead('response trailers, byte by byte', (size) =>
    responseHead(`${CHUNKED}A: ${'b'.repeat(size)}\r\n`, 1),
  ),
  ofHead('first bytes', (size) => () => isForPath(Buffer.from(fill('A', size)), PROXY)),
  ofHead('headers up', (size) => () => requestHeaders(fields(size), openai)),
  ofHead(
    'headers up: Connection names',
    (size) => () =>
      requestHeaders(['Connection', fill('x-field-1,', size), ...fields(4096)], openai),
  ),
  ofHead(
    'headers up: values like keys',
    (size) => () => requestHeaders(fields(size, 'tmk'), openai),
  ),
  ofHead(
    'headers down: Connection names',
    (size) => () =>
      responseHeaders(['Connection', fill('x-field-1,', size), ...fields(4096)], context),
  ),
  ofHead(
    'headers down: Location',
    (size) => () =>
      responseHeaders(['Location', `https://api.openai.com/${fill('%2e/', size)}`], context),
  ),
  ofHead(
    'headers down: WWW-Authenticate',
    (size) => () => responseHeaders(['WWW-Authenticate', fill(', \t', size)], context),
  ),
  ofHead('value of a header', (size) => () => [
    valueOf(fields(size), 'x-none'),
    valuesOf(fields(size), 'x-none'),
  ]),
  ofHead(
    'boundary of a form',
    (size) => () => boundaryOf(`multipart/form-data; boundary=${fill('a ', size)}`),
  ),
  ofHead(
    'boundary: blanks',
    (size) => () => boundaryOf(`multipart/form-data${fill(' \t', size)};`),
  ),
  ofHead('proxy key', (size) => () => parsePublicId('tmk', `tmk_${fill('a_', size)}`)),
  ofHead('origin', (size) => () => normalizeOrigin(`https://${fill('a.', size)}com`)),
  ofHead('X-Forwarded-For', (size) => forwarded('x-forwarded-for', fill('1.2.3.4, ', size))),
  ofHead('X-Forwarded-For: one address', (size) =>
    forwarded('x-forwarded-for', fill('[::ffff:', size)),
  ),
  ofHead('X-Forwarded-For: colons', (size) => forwarded('x-forwarded-for', fill(':', size))),
  ofHead('X-Forwarded-For: digits', (size) => forwarded('x-forwarded-for', fill('1.', size))),
  ofHead('X-Forwarded-Host', (size) => forwarded('x-forwarded-host', fill(' ,', size))),
  ofHead('cookies', (size) => () => parseCookies(fill('a=b; ', size))),
  ofHead('cookies: blanks', (size) => () => parseCookies(`a=${fill(' ', size)}x`, 'a')),
  ofHead('Idempotency-Key', (size) => () => {
    try {
      readKey(fill('a ', size))
    } catch {
      // Too long: this measures the refusal.
    }
  }),
  ofHead('scope: a long model', (size) => {
    const scope = compileScope([`${'a*'.repeat(128)}b`])
    return () => scope.allows([fill('a', size)])
  }),
  ofHead('scope: a model of dots', (size) => {
    const scope = compileScope(['*x*'])
    return () => scope.allows([fill('./', size), fill('@prese', size)])
  }),
  ofRows(
    'scope: many entries',
    (size) => {
      const scope = compileScope(Array.from({ length: size }, (_, i) => `model-${i}*`))
      return () => scope.allows(['model-x'])
    },
    2_000,
  ),
  ofHead('scope: the sentence about an entry', (size) => () => scopeEntryProblem(fill(' ', size))),
]
