// TABLE of what one key, account or address can do to starve the others, each with the settings
// that bound it.
import { JSON_BODIES, largeForm } from '../../../bench/parts/bodies.ts'
import { file, form, PAGE } from '../../support/form.ts'
import { SOCKET_ATTACKS } from './socket-attacks.ts'
import type { Attack, Scene } from './attack.ts'

const CHAT = encodeURIComponent('https://api.openai.com/v1/chat/completions')
const SPEECH = encodeURIComponent('https://api.openai.com/v1/audio/transcriptions')
const SMALL = '{"model":"gpt-5","messages":[]}'
const OTHER_MODEL = '{"model":"other","messages":[]}'

/** The head of a request through the proxy. @param length of its body; null: chunks */
export function headOf(key: string, length: number | null, more = '', url = CHAT): string {
  const framing = length === null ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`
  return `POST /proxy?url=${url} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n${more.includes('Content-Type') ? '' : 'Content-Type: application/json\r\n'}${more}${framing}\r\n\r\n`
}

const times = (count: number, make: (i: number) => Promise<unknown>): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)))
const get = (path: string, token: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`
/**
 * As a page of ours sends it: what comes from another is refused before its password is looked at.
 */
const signIn = (email: string): string => {
  const body = JSON.stringify({ email, password: 'wrong password' })
  return `POST /api/v1/session HTTP/1.1\r\nHost: x\r\nOrigin: http://x\r\nSec-Fetch-Site: same-origin\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}
const upload = (scene: Scene, page: string) => {
  const { contentType, body } = form(file('page.html', page))
  return {
    head: `POST /api/v1/convert HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${scene.token}\r\nContent-Type: ${contentType}\r\nContent-Length: ${body.length}\r\n\r\n`,
    body,
  }
}

/** A body that is sent over and over by some callers. */
const bodies = (
  name: string,
  make: (bytes: number) => { type: string; bytes: Buffer },
  responses: readonly number[],
  url = CHAT,
): Attack => ({
  name,
  against: ['TOLLMARK_MAX_BODY'],
  others: 'proxy',
  responses,
  begin: ({ key, body }, hostile) => {
    const { type, bytes } = make(body)
    const first = Buffer.concat([
      Buffer.from(headOf(key, bytes.length, `Content-Type: ${type}\r\n`, url)),
      bytes,
    ])
    return times(4, () => hostile.open({ first, again: true }))
  },
})

/** Callers who ask again as soon as they have a response. */
const flood = (
  name: string,
  responses: readonly number[],
  request: (scene: Scene) => string,
  against: readonly string[] = [],
): Attack => ({
  name,
  against,
  others: 'proxy',
  responses,
  begin: (scene, hostile) =>
    times(Math.min(scene.many, 32), () => hostile.open({ first: request(scene), again: true })),
})

const BUSY = [408, 429, 503]
/** Bodies that are large enough for the tests, too. */
const IN_TESTS: ReadonlySet<string> = new Set([
  'short messages',
  'numbers',
  'deep lists',
  'not quite JSON',
])

export const ATTACKS: readonly Attack[] = [
  {
    name: 'bodies that come almost whole, and then a byte now and then',
    against: ['TOLLMARK_MAX_HELD', 'TOLLMARK_BODY_GRACE'],
    others: 'proxy',
    responses: BUSY,
    begin: ({ key, many, body }, hostile) => {
      const first = Buffer.from(
        headOf(key, body) + '{"model":"gpt-5","messages":["'.padEnd(body - 4_096, 'x'),
      )
      return times(Math.min(many, 24), () =>
        hostile.open({ first, trickle: { piece: 'x', every: 1_000 } }),
      )
    },
  },
  {
    name: 'bodies of which only a byte comes now and then',
    against: ['TOLLMARK_MAX_OPEN', 'TOLLMARK_MAX_HELD'],
    others: 'proxy',
    responses: BUSY,
    begin: ({ key, many, body }, hostile) =>
      times(many, () =>
        hostile.open({ first: headOf(key, body), trickle: { piece: 'x', every: 1_000 } }),
      ),
  },
  {
    name: 'small bodies that are never finished',
    against: ['TOLLMARK_MAX_OPEN'],
    others: 'proxy',
    responses: BUSY,
    begin: ({ key, many }, hostile) =>
      times(many * 4, () => hostile.open({ first: headOf(key, 1_024) + SMALL })),
  },
  {
    name: 'a body in chunks without end',
    against: ['TOLLMARK_MAX_BODY'],
    others: 'proxy',
    responses: [...BUSY, 413, 400],
    begin: ({ key, body }, hostile) =>
      times(4, () =>
        hostile.open({
          first: `${headOf(key, null)}10\r\n{"model":"gpt-5",\r\n`,
          trickle: {
            piece: `1000\r\n${' '.repeat(4_096)}\r\n`.repeat(
              Math.min(16, Math.ceil(body / 40_960)),
            ),
            every: 20,
          },
        }),
      ),
  },
  {
    name: 'chunks of one byte',
    against: ['TOLLMARK_MAX_BODY'],
    others: 'proxy',
    responses: [...BUSY, 413, 400],
    begin: ({ key }, hostile) =>
      times(4, () =>
        hostile.open({
          first: headOf(key, null),
          trickle: { piece: '1\r\n \r\n'.repeat(2_000), every: 20 },
        }),
      ),
  },
  {
    name: 'a form without end',
    against: ['TOLLMARK_MAX_BODY'],
    others: 'proxy',
    responses: [...BUSY, 400, 413],
    begin: ({ key }, hostile) =>
      times(4, () =>
        hostile.open({
          first: `${headOf(key, null, 'Content-Type: multipart/form-data; boundary=b\r\n', SPEECH)}3\r\n--b\r\n`,
          trickle: { piece: `1000\r\n${'\r\n--'.repeat(1_024)}\r\n`, every: 20 },
        }),
      ),
  },
  ...Object.entries(JSON_BODIES).map(([name, make]) => ({
    ...bodies(`large bodies: ${name}`, make, [200, 400, 403, ...BUSY]),
    large: !IN_TESTS.has(name),
  })),
  bodies('large forms', largeForm, [200, 400, 403, ...BUSY], SPEECH),
  {
    name: 'heads that are never finished',
    against: ['TOLLMARK_HEADERS_TIMEOUT'],
    others: 'proxy',
    responses: [408, 503],
    begin: ({ many }, hostile) =>
      times(many * 4, () =>
        hostile.open({
          first: 'POST /proxy?url=x HTTP/1.1\r\nHost: x\r\n',
          trickle: { piece: 'A: b\r\n', every: 1_000 },
        }),
      ),
  },
  {
    name: 'heads for the API that are never finished',
    against: ['TOLLMARK_HEADERS_TIMEOUT'],
    others: 'convert',
    responses: [408, 503],
    begin: ({ many }, hostile) =>
      times(many * 4, () =>
        hostile.open({
          first: 'POST /api/v1/convert HTTP/1.1\r\nHost: x\r\n',
          trickle: { piece: 'A: b\r\n', every: 1_000 },
        }),
      ),
  },
  {
    name: 'connections of one address',
    against: ['TOLLMARK_MAX_CONNECTIONS_PER_ADDRESS'],
    others: 'proxy',
    responses: [408, 503],
    begin: ({ many }, hostile) =>
      times(many * 8, () => hostile.open({ first: '', from: '127.0.0.2' })),
  },
  {
    name: 'streams that nobody reads',
    against: ['TOLLMARK_MAX_OPEN', 'TOLLMARK_IDLE_TIMEOUT', 'TOLLMARK_FIRST_BYTE_TIMEOUT'],
    others: 'proxy',
    responses: [200, 503],
    begin: ({ key, many }, hostile) => {
      const body = '{"model":"gpt-5","stream":true,"messages":["endless"]}'
      return times(many, () =>
        hostile.open({ first: headOf(key, body.length) + body, reads: false }),
      )
    },
  },
  {
    name: 'compressed responses that decode to 300 times their size',
    against: ['TOLLMARK_MAX_OPEN'],
    others: 'proxy',
    responses: [200, 503],
    large: true,
    begin: ({ key, many }, hostile) => {
      const body = '{"model":"gpt-zipped","messages":[],"store":true}'
      return times(Math.min(many, 100), () =>
        hostile.open({ first: headOf(key, body.length) + body }),
      )
    },
  },
  flood('a flood of 401', [401], () => headOf('tmk_AAAAAAAAAAAA_wrong', SMALL.length) + SMALL),
  flood(
    'a flood of 403',
    [403],
    ({ key }) =>
      headOf(key, SMALL.length, '', encodeURIComponent('https://nobody.invalid/')) + SMALL,
  ),
  flood('a flood of 429', [429], ({ usedUp }) => headOf(usedUp, SMALL.length) + SMALL),
  flood(
    'requests of other models',
    [403],
    ({ key }) => headOf(key, OTHER_MODEL.length) + OTHER_MODEL,
  ),
  flood(
    'preflights',
    [204],
    () =>
      `OPTIONS /proxy?url=${CHAT} HTTP/1.1\r\nHost: x\r\nOrigin: https://x.test\r\nAccess-Control-Request-Method: POST\r\n\r\n`,
  ),
  // Refused before they are charged: a key of one request a minute may send them for ever.
  flood(
    'paths of thousands of segments',
    [400, 403, 429],
    ({ key }) =>
      headOf(key, 2, '', encodeURIComponent(`https://api.openai.com/v1/${'a/'.repeat(2_600)}x`)) +
      '{}',
  ),
  flood('queries of hundreds of parameters', [400, 403, 429, 503], ({ key }) => {
    const query = Array.from({ length: 250 }, (_, i) => `k${i}=%66ile-x`).join('&')
    const url = encodeURIComponent(`https://api.openai.com/v1/chat/completions?${query}`)
    return headOf(key, OTHER_MODEL.length, '', url) + OTHER_MODEL
  }),
  flood('ids in hundreds of headers', [403, 429, 431, 503], ({ key }) => {
    const ids = Array.from(
      { length: 120 },
      (_, i) => `X-A${i}: file-${String(i).padStart(22, 'A')}`,
    )
    return headOf(key, OTHER_MODEL.length, `${ids.join('\r\n')}\r\n`) + OTHER_MODEL
  }),
  flood('hundreds of ids that nobody made', [403, 429, 503], ({ key }) => {
    const ids = Array.from({ length: 300 }, (_, i) => `file-${String(i).padStart(22, 'A')}`)
    const body = JSON.stringify({ model: 'gpt-5', messages: [], ids })
    return headOf(key, body.length) + body
  }),
  flood('scrapes of /metrics', [200, 503], ({ token }) => get('/metrics', token)),
  flood('CSV of the ledger', [200, 429, 503], ({ token }) =>
    get('/api/v1/requests?format=csv', token),
  ),
  flood('reports', [200, 429, 503], ({ token }) => get('/api/v1/usage?by=hour,key,model', token)),
  flood('attempts to sign in', [401, 429, 503], () => signIn('nobody@example.com')),
  {
    name: 'attempts to sign in from many addresses',
    against: [],
    others: 'proxy',
    responses: [401, 429, 503],
    begin: ({ many }, hostile) =>
      times(Math.min(many, 120), (i) =>
        hostile.open({
          first: signIn(`nobody${i}@example.com`),
          again: true,
          from: `127.0.1.${i + 1}`,
        }),
      ),
  },
  {
    name: 'bodies for the API that are never finished',
    against: ['TOLLMARK_TRANSFER_IDLE'],
    others: 'convert',
    responses: [408, 503],
    begin: ({ many, token }, hostile) =>
      times(many, () =>
        hostile.open({
          first: `POST /api/v1/keys HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
          trickle: { piece: ' ', every: 1_000 },
        }),
      ),
  },
  {
    name: 'uploads of which only a byte comes now and then',
    against: ['TOLLMARK_UPLOADS', 'TOLLMARK_TRANSFER_IDLE', 'TOLLMARK_UPLOAD_GRACE'],
    others: 'convert',
    responses: [408, 429, 503],
    begin: (scene, hostile) => {
      const { head, body } = upload(scene, PAGE)
      return times(scene.many, () =>
        hostile.open({
          first: head + body.toString('latin1', 0, 200),
          trickle: { piece: ' ', every: 1_000 },
        }),
      )
    },
  },
  {
    name: 'one conversion after another',
    against: ['TOLLMARK_CONVERSIONS', 'TOLLMARK_CONVERSION_QUEUE', 'TOLLMARK_MAX_HTML'],
    others: 'convert',
    responses: [200, 429, 503],
    begin: (scene, hostile) => {
      const { head, body } = upload(
        scene,
        PAGE.replace('Be kind.', '<p>Some words.</p>'.repeat(2_000)),
      )
      return times(scene.many, () =>
        hostile.open({
          first: Buffer.concat([Buffer.from(head), body]),
          again: true,
          from: '127.0.0.2',
        }),
      )
    },
  },
  ...SOCKET_ATTACKS,
]

/** TABLE of limits that nobody can use up to another's harm, and why. */
export const NOT_SHARED: Readonly<Record<string, string>> = {
  TOLLMARK_MAX_ZIP: 'Bounds one upload; how many there are is TOLLMARK_UPLOADS.',
  TOLLMARK_MAX_ENTRIES: 'Bounds one archive, whose conversion is one of TOLLMARK_CONVERSIONS.',
  TOLLMARK_MAX_PAGE: 'Bounds one archive.',
  TOLLMARK_MAX_PAGES: 'Bounds one archive.',
  TOLLMARK_MAX_PARTS: 'Bounds one archive.',
  TOLLMARK_JOB_QUEUE: 'Jobs end in their own time: test/conversion/job-queue.ts holds who is next.',
  TOLLMARK_CONNECT_TIMEOUT: 'Bounds one request, which counts in TOLLMARK_MAX_OPEN.',
  TOLLMARK_CONVERSION_DEADLINE:
    'Bounds one conversion; how many there are is TOLLMARK_CONVERSIONS.',
  TOLLMARK_CONVERSION_HEAP: 'Bounds one conversion.',
  TOLLMARK_SHUTDOWN_TIMEOUT: 'Of the operator: nobody calls for it.',
  TOLLMARK_EVENTS_IDLE: 'How often a stream shows that it is alive; it ends nothing.',
}
