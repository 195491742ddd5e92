// Generated requests that name another key's object, somewhere, in some spelling; and ordinary ones
// that do not. Steps 4 and 5 decide, without sockets.
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import type { CachedKey } from '../../../server/keys/cache.ts'
import { compileScope } from '../../../server/keys/scope.ts'
import { Inspection } from '../../../server/proxy/inspect/inspection.ts'
import { uploadKindOf, uploadReaderOf } from '../../../server/proxy/inspect/upload-kind.ts'
import type { UploadReader } from '../../../server/proxy/inspect/upload-reader.ts'
import { openObjectOwners, type ObjectOwners } from '../../../server/proxy/objects/objects.ts'
import { checkOwnership } from '../../../server/proxy/objects/ownership.ts'
import { refuseEndpoint } from '../../../server/proxy/providers/authorize-endpoint.ts'
import { classify } from '../../../server/proxy/providers/endpoint.ts'
import { objectRef, type ObjectRef } from '../../../server/proxy/providers/object-ref.ts'
import { createProviderTable } from '../../../server/proxy/providers/table.ts'
import { PROVIDERS } from '../../../server/proxy/providers/rows/index.ts'
import { GatewayError } from '../../../server/proxy/gateway-error.ts'
import type { Store } from '../../../server/store/store.ts'
import {
  drawing,
  madeAt,
  NAMES,
  ordinary,
  pick,
  type Draw,
  type Made,
  SPELLED,
} from '../providers/id-cases.ts'

const table = createProviderTable({
  instances: [
    { provider: 'azure', values: { resource: 'acme' } },
    { provider: 'bedrock', values: { region: 'us-east-1' } },
  ],
})
const IDS = SPELLED.map(({ id }) => id)

/** A store that holds nothing: what is made is remembered by the process. */
export const EMPTY = ((): Store => {
  const query: unknown = new Proxy(() => query, {
    get: (_, name) =>
      name === 'execute'
        ? async () => []
        : name === 'executeTakeFirst'
          ? async () => undefined
          : query,
  })
  return {
    run: async (_: unknown, row: unknown) => row,
    db: { selectFrom: () => query },
  } as unknown as Store
})()

export const keyOf = (id: string, objects: CachedKey['objects']): CachedKey => ({
  id,
  child: null,
  accountId: 'acc',
  scope: compileScope(null),
  rpm: null,
  allowedOrigins: null,
  objects,
  providers: null,
  readOnly: false,
  shared: new Set(),
  expiresAt: null,
  disabled: false,
  revoked: false,
})
const ATTACKERS = [keyOf('own', 'own'), keyOf('upstream', 'upstream')]

interface Request {
  readonly provider: string
  readonly method: string
  readonly path: string
  readonly headers: readonly string[]
  readonly body: Buffer
}

/** Whether a request passes steps 4 and 5. */
async function passes(
  objects: ObjectOwners,
  key: CachedKey,
  { provider: id, method, path, headers, body }: Request,
): Promise<boolean> {
  const provider = table.byId(id)!
  const match = classify(provider, method, path)
  if (refuseEndpoint(match, false) !== null) return false
  const kind = uploadKindOf({ provider, match, headers, pathAndQuery: path })
  if (kind === 'content') return true
  if (kind === 'parts') {
    const named = namedInParts(
      uploadReaderOf({ provider, match, headers, pathAndQuery: path }),
      body,
    )
    return (
      named !== null &&
      owns(objects, { provider, key, match, method, headers }, match.objects.concat(named))
    )
  }
  const inspection = new Inspection({ provider, match, headers, strict: false, limit: 1e6 }, [body])
  await new Promise<void>((resolve) => {
    const go = (): void => {
      for (;;) {
        const step = inspection.step(go)
        if (step === 'waiting') return
        if (step === 'done') return resolve()
      }
    }
    go()
  })
  if (
    inspection.refusal !== null ||
    inspection.findings.unclear ||
    (key.objects === 'own' && inspection.isUnreadable)
  )
    return false
  return owns(
    objects,
    { provider, key, match, method, headers },
    [...match.objects, ...inspection.findings.mentioned],
    () => match.objects.concat(inspection.mentionedOutsideProse()),
  )
}

/** What the parts of an upload name; null where it is refused. */
function namedInParts(reader: UploadReader, body: Buffer): readonly ObjectRef[] | null {
  reader.write(body)
  const isWhole = reader.end()
  while (!reader.settle());
  return isWhole && reader.problem === null ? reader.takeNews() : null
}

async function owns(...asked: Parameters<typeof checkOwnership>): Promise<boolean> {
  try {
    await checkOwnership(...asked)
    return true
  } catch (error) {
    if (error instanceof GatewayError) return false
    throw error
  }
}

/** Endpoints that take a JSON body, and name nothing in their path and no stored bot as a model. */
const ENDPOINTS = new Map(
  PROVIDERS.map(({ id, endpoints }) => [
    id,
    endpoints.flatMap(({ on, class: kind, uploads, names }) => {
      const [path = '', ...methods] = on.split(' ').toReversed()
      return methods.includes('POST') &&
        uploads === undefined &&
        names?.['model'] === undefined &&
        (kind === 'model' || id === 'vertex') &&
        !/\{(?!model|publisher|project|location|account|any|base)|tunedModels/.test(path)
        ? [path.replaceAll(/\{\w+[:*]?\}/g, 'm')]
        : []
    }),
  ]),
)

const KEYS = [
  'contents',
  'parts',
  'fileData',
  'file_data',
  'content',
  'source',
  'messages',
  'input',
  'output',
  'tools',
  'metadata',
  'text',
  'value',
  'arguments',
  'extra',
]

/** A body that holds a value at some depth, among ordinary ones. */
function bodyWith(draw: Draw, value: unknown, key: string | null): unknown {
  let at: unknown = key === null ? value : { [key]: 1 }
  for (let depth = 1 + draw(6); depth > 0; depth--) {
    at =
      draw(3) === 0
        ? [ordinary(draw), at, { [pick(draw, KEYS)]: ordinary(draw) }]
        : { [pick(draw, KEYS)]: ordinary(draw), [`${pick(draw, KEYS)}${draw(2)}`]: at }
  }
  return { model: 'm', body: at }
}

const ENCODERS: Record<string, (body: Buffer) => Buffer> = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
}

/** JSON as some client writes it: spaces, letters as escapes. */
function written(draw: Draw, body: unknown, spelled: string): Buffer {
  const json = JSON.stringify(body, null, draw(3))
  const inside = JSON.stringify(spelled).slice(1, -1)
  const at = draw(inside.length)
  const letter = inside[at]!
  const escaped =
    letter === '\\' || inside[at - 1] === '\\'
      ? inside
      : `${inside.slice(0, at)}\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}${inside.slice(at + 1)}`
  return Buffer.from(
    draw(2) === 0
      ? json
      : json.replaceAll(
          `"${inside}"`,
          () => `"${escaped.replaceAll('/', draw(2) === 0 ? '/' : '\\/')}"`,
        ),
  )
}

const FORM = 'multipart/form-data; boundary=wall-of-keys'
const part = (head: string, content: Buffer | string): Buffer =>
  Buffer.concat([
    Buffer.from(`--wall-of-keys\r\nContent-Disposition: form-data; name=${head}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ])
const form = (...parts: readonly Buffer[]): Body => ({
  type: FORM,
  body: Buffer.concat([part('"model"', 'm'), ...parts, Buffer.from('--wall-of-keys--\r\n')]),
})
const SOUND = Buffer.concat([
  Buffer.from('RIFF'),
  Buffer.from(Array.from({ length: 3_000 }, (_, i) => (i * i * 7) & 0xff)),
])
const FILE = part('"file"; filename="a.wav"\r\nContent-Type: audio/wav', SOUND)
const quoted = (bytes: Buffer): string =>
  [...bytes]
    .map((byte) => `=${byte.toString(16).padStart(2, '0')}`)
    .join('')
    .replaceAll(/(.{60})/g, '$1=\r\n')
const BASE64 = 'Content-Transfer-Encoding: base64'
const QUOTED = 'Content-Transfer-Encoding: quoted-printable'

interface Body {
  readonly type: string
  readonly body: Buffer
}

/** TABLE of bodies that hold a text, or the JSON in which it stands. */
const BODIES: ((text: string, json: Buffer) => Body)[] = [
  (_, json) => ({ type: 'application/json', body: json }),
  (_, json) => ({ type: 'application/json', body: json }),
  (_, json) => ({ type: 'application/json; charset=utf-8', body: json }),
  (_, json) => ({ type: 'application/octet-stream', body: json }),
  (_, json) => ({ type: '', body: json }),
  (text) => ({
    type: 'application/x-www-form-urlencoded',
    body: Buffer.from(`model=m&x[]=${encodeURIComponent(text)}`),
  }),
  (_, json) => ({
    type: 'application/x-www-form-urlencoded',
    body: Buffer.from(`model=m&x=${encodeURIComponent(json.toString())}`),
  }),
  (text) => form(FILE, part('"x"', text)),
  (text) => form(part('"x[y]"\r\nContent-Type: text/plain; charset=ISO-8859-1', text), FILE),
  (_, json) => form(part('"x"', json), FILE),
  (_, json) => form(part('"x"\r\nContent-Type: application/json', json)),
  (_, json) => form(part('"x"; filename="a.json"\r\nContent-Type: application/json', json)),
]
/** TABLE of bodies that nobody but an attacker writes. */
const HOSTILE_BODIES: typeof BODIES = [
  ...BODIES,
  (text) => form(part(`"x"\r\n${BASE64}`, Buffer.from(text).toString('base64'))),
  (_, json) =>
    form(
      part(
        `"x"; filename="x"\r\n${BASE64}`,
        json.toString('base64').replaceAll(/(.{76})/g, '$1\r\n'),
      ),
    ),
  (text) => form(part(`"x"\r\n${QUOTED}`, quoted(Buffer.from(text)))),
  (_, json) => form(part(`"x"\r\n${QUOTED}`, quoted(json))),
  (_, json) =>
    form(part('"x"', Buffer.concat([Buffer.from('\ufeff'), Buffer.alloc(3_000, ' '), json]))),
  (_, json) =>
    form(part('"x"', `{"x":${'['.repeat(600)}${']'.repeat(600)},"y":${json.toString()}}`)),
  (_, json) => form(part('"x"; filename="a.txt"', json)),
  (_, json) =>
    form(
      part(
        '"x"\r\nContent-Type: multipart/mixed; boundary=c',
        `--c\r\n\r\n${json.toString()}\r\n--c--`,
      ),
    ),
  (_, json) => ({ type: 'audio/wav', body: json }),
]
/** TABLE of bodies of others that hold nothing. */
const FILES: readonly Body[] = [
  form(FILE),
  { type: 'audio/wav', body: SOUND },
  { type: 'application/octet-stream', body: SOUND },
  form(FILE, part('"prompt"', 'Grüße')),
  form(part('"prompt"', '[verse 1] la la')),
]

function request(draw: Draw, provider: string, { type, body }: Body, query = ''): Request {
  const endpoint = pick(draw, ENDPOINTS.get(provider)!)
  const [encoding, encode] = draw(4) === 0 ? pick(draw, Object.entries(ENCODERS)) : [null, null]
  const headers = [
    ...(type === '' ? [] : ['Content-Type', type]),
    ...(encoding === null ? [] : ['Content-Encoding', encoding]),
  ]
  return {
    provider,
    method: 'POST',
    path: endpoint + query,
    headers,
    body: encode === null ? body : encode(body),
  }
}

/** Endpoints that take a file, and as what: a form, or all of their body. */
const UPLOADS = PROVIDERS.flatMap(({ id, endpoints }) =>
  endpoints.flatMap(({ on, uploads }) =>
    uploads !== undefined && /^POST (?:\S+ )?\/[^{]*$/.test(on)
      ? [[id, on.slice(on.indexOf('/')), uploads] as const]
      : [],
  ),
)
const RELATED = 'multipart/related; boundary=wall-of-keys'
const relatedPart = (head: string, content: Buffer | string): Buffer =>
  Buffer.concat([Buffer.from(`--wall-of-keys\r\n${head}\r\n\r\n`), Buffer.from(content), CRLF])
const CRLF = Buffer.from('\r\n')
const relatedBody = (metadata: Buffer, head = ''): Buffer =>
  Buffer.concat([
    relatedPart('Content-Type: application/json', metadata),
    relatedPart(`Content-Type: audio/wav${head}`, SOUND),
    Buffer.from('--wall-of-keys--\r\n'),
  ])
const withLineFeeds = (body: Buffer): Buffer =>
  Buffer.from(body.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
const PURPOSE = part('"purpose"', 'user_data')

/** TABLE of uploads that hold a text, or the JSON in which it stands, beside a file. */
const UPLOAD_BODIES: Readonly<Record<'form' | 'body', typeof BODIES>> = {
  form: [
    (text) => form(PURPOSE, part('"x"', text), FILE),
    (text) => form(PURPOSE, FILE, part('"x"', text)),
    (_, json) => form(FILE, part('"x"', json)),
    (_, json) => ({ type: 'application/json', body: json }),
    (text) => ({
      type: 'application/x-www-form-urlencoded',
      body: Buffer.from(`purpose=x&y=${encodeURIComponent(text)}`),
    }),
  ],
  body: [
    (_, json) => ({ type: 'application/json', body: json }),
    (_, json) => ({ type: RELATED, body: relatedBody(json) }),
    (_, json) => ({ type: RELATED, body: withLineFeeds(relatedBody(json)) }),
  ],
}
/** TABLE of uploads that nobody but an attacker writes. */
const HOSTILE_UPLOADS: typeof UPLOAD_BODIES = {
  form: [
    ...UPLOAD_BODIES.form,
    (text) => form(FILE, part(`"x"\r\n${BASE64}`, Buffer.from(text).toString('base64'))),
    (_, json) => form(part(`"x"\r\n${BASE64}`, json.toString('base64')), FILE),
    (text) => form(part(`"x"\r\n${QUOTED}`, quoted(Buffer.from(text))), FILE),
    (text) => form(part(`"file"; filename="a"\r\nContent-ID: <${inHead(text)}>`, SOUND)),
    (text) => form(FILE, part(`"file"; filename="b"\r\nX-Object: ${inHead(text)}`, SOUND)),
  ],
  body: [
    ...UPLOAD_BODIES.body,
    (text) => ({
      type: RELATED,
      body: relatedBody(Buffer.from('{}'), `\r\nX-Object: ${inHead(text)}`),
    }),
  ],
}
/** A text as a header can hold it. */
const inHead = (text: string): string => encodeURIComponent(text.trim())

/** An upload that holds a text; null where the provider takes none. */
function upload(
  draw: Draw,
  provider: string,
  text: string,
  bodies: typeof UPLOAD_BODIES,
): Request | null {
  const endpoints = UPLOADS.filter(([id]) => id === provider)
  if (endpoints.length === 0) return null
  const [, path, kind] = pick(draw, endpoints)
  const { type, body } = pick(draw, bodies[kind])(
    text,
    written(draw, bodyWith(draw, text, null), text),
  )
  return { provider, method: 'POST', path, headers: ['Content-Type', type], body }
}

/** An object of a kind that the provider makes; of which, an id that is a UUID does not say. */
function objectOf(provider: string, draw: Draw): Made {
  const { kinds } = table.byId(provider)!.endpoints
  for (;;) {
    const made = madeAt(provider, draw)
    if (made.id.length === 36 && made.kind === 'file') return { ...made, kind: pick(draw, kinds) }
    if (kinds.includes(made.kind)) return made
  }
}

/** A message that is nothing but a text. */
const saying = (text: string): Body => ({
  type: 'application/json',
  body: Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }] })),
})
/** Endpoints at which that is a message, by provider. */
const CHATS = PROVIDERS.flatMap(({ id, endpoints }) =>
  endpoints.flatMap(({ on, names }) =>
    /^POST \S*\/(?:chat\/completions|messages)$/.test(on) &&
    !on.includes('{') &&
    names?.['model'] === undefined
      ? [[id, on.slice('POST '.length)] as const]
      : [],
  ),
)

/**
 * How many of `count` requests that name another key's object pass, for either kind of key; and the
 * first of them.
 */
export async function foreignThatPass(
  count: number,
  seed: number,
): Promise<{ passed: number; first: string | null }> {
  const draw = drawing(seed)
  let [passed, first]: [number, string | null] = [0, null]
  for (let i = 0; i < count; i++) {
    const objects = openObjectOwners(EMPTY, () => {})
    const provider = pick(draw, IDS)
    const { kind, id, spelled } = objectOf(provider, draw)
    objects.recordCreated(provider, { kind, id }, { key: 'victim', credential: 'c', now: 0 })
    const text = pick(draw, spelled)
    const place = draw(8)
    const uploaded = place === 4 ? upload(draw, provider, text, HOSTILE_UPLOADS) : null
    const body = pick(draw, HOSTILE_BODIES)(
      text,
      written(draw, bodyWith(draw, text, place === 2 ? text : null), text),
    )
    const chat = CHATS.find(([id]) => id === provider)
    const made =
      uploaded ??
      (place === 3 && chat !== undefined
        ? { ...request(draw, provider, saying(text)), path: chat[1] }
        : place === 0
          ? request(
              draw,
              provider,
              { type: 'application/json', body: Buffer.from('{"model":"m"}') },
              `?x=${encodeURIComponent(text)}`,
            )
          : place === 1
            ? { ...request(draw, provider, body), path: '/of/tomorrow' }
            : request(draw, provider, body))
    if (!(await passes(objects, ATTACKERS[i % 2]!, made))) continue
    passed++
    first ??= `${provider} ${kind} ${JSON.stringify(text)} ${made.path} ${made.body.toString().slice(0, 300)}`
  }
  return { passed, first }
}

/**
 * How many of `count` ordinary requests are refused for a key with objects of its own, while others
 * have objects with everyday names; and the first.
 */
export async function ordinaryThatFail(
  count: number,
  seed: number,
): Promise<{ refused: number; first: string | null }> {
  const draw = drawing(seed)
  const objects = openObjectOwners(EMPTY, () => {})
  for (const provider of table.providers) {
    for (const kind of provider.endpoints.kinds)
      for (const name of NAMES)
        objects.recordCreated(provider.id, objectRef(kind, name), {
          key: 'victim',
          credential: 'c',
          now: 0,
        })
  }
  let [refused, first]: [number, string | null] = [0, null]
  for (let i = 0; i < count; i++) {
    // An id of nobody's as the whole of a message.
    if (draw(20) === 0) {
      const [provider, path] = pick(draw, CHATS)
      const said = {
        provider,
        method: 'POST',
        path,
        headers: ['Content-Type', 'application/json'],
        body: saying(madeAt(provider, draw).written).body,
      }
      if (await passes(objects, ATTACKERS[0]!, said)) continue
      refused++
      first ??= `${provider} ${path} ${said.body.toString()}`
    }
    const text = ordinary(draw)
    // A field that is JSON as a whole names what stands in it.
    const kinds = text.startsWith('{') ? BODIES.slice(0, 2) : BODIES
    const provider = pick(draw, IDS)
    // A field that is JSON as a whole names what stands in it.
    const uploaded =
      draw(8) === 0 && !text.startsWith('{') ? upload(draw, provider, text, UPLOAD_BODIES) : null
    const made =
      uploaded ??
      request(
        draw,
        provider,
        draw(10) === 0
          ? pick(draw, FILES)
          : pick(draw, kinds)(text, written(draw, bodyWith(draw, text, null), text)),
      )
    if (await passes(objects, ATTACKERS[0]!, made)) continue
    refused++
    first ??= `${made.provider} ${made.path} ${JSON.stringify(text)} ${made.body.toString().slice(0, 300)}`
  }
  return { refused, first }
}
