// A key that is limited to models, attacked through the front door: whatever a request looks like,
// nothing that any server could read as another model reaches the upstream.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { Busboy } from '@fastify/busboy'
import * as fc from 'fast-check'
import { FORMS, raw } from '../support/served.ts'
import { ORIGINS, startScoped, type Id, type Scoped } from '../support/scoped.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }
const KEY = ['allowed', 'allowed-*'] as const
const CHAT = { id: 'openai', path: '/v1/chat/completions' } as const
const SPEECH = { id: 'openai', path: '/v1/audio/transcriptions' } as const

interface Attack {
  readonly id?: Id
  readonly path?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

async function refused(
  { ask }: Scoped,
  {
    id = 'openai',
    path = '/v1/chat/completions',
    method = 'POST',
    headers = JSON_TYPE,
    body,
  }: Attack,
  name: string,
): Promise<void> {
  for (const form of FORMS) {
    const got = await ask(id, path, KEY, {
      form,
      method,
      headers: { ...headers },
      ...(body !== undefined && { body }),
    })
    assert.equal(got.sent, 0, `${id} ${path} ${name}: ${got.status} ${got.body}`)
    assert.ok(got.status === 403 || got.status === 400, `${name}: ${got.status} ${got.body}`)
  }
}

const json = (text: string) => ({ body: text })
/** A multipart body of parts that are written out: headers, a blank line, a value. */
const form = (
  parts: readonly string[],
  { type = 'multipart/form-data; boundary=b', before = '', after = '', newline = '\r\n' } = {},
): Attack => ({
  ...SPEECH,
  headers: { 'Content-Type': type },
  body:
    before +
    parts.map((part) => `--b${newline}${part}${newline}`).join('') +
    `--b--${newline}${after}`,
})
const field = (name: string, value: string, newline = '\r\n') =>
  `Content-Disposition: form-data; name="${name}"${newline}${newline}${value}`
const disposition = (text: string, value = 'other') =>
  `Content-Disposition: form-data; ${text}\r\n\r\n${value}`
const ALLOWED = field('model', 'allowed')

/** TABLE of attacks. */
const ATTACKS: readonly (readonly [name: string, attack: Attack])[] = [
  ['another model', json('{"model":"other"}')],
  ['of another case', json('{"model":"Allowed"}')],
  ['with space around', json('{"model":" allowed"}')],
  ['with a tab behind', json('{"model":"allowed\\t"}')],
  ['with a NUL behind', json('{"model":"allowed\\u0000"}')],
  ['with a NUL and another name', json('{"model":"allowed\\u0000other"}')],
  ['with a zero-width joiner', json('{"model":"allowed\\u200d"}')],
  ['with a Cyrillic letter', json('{"model":"\\u0430llowed"}')],
  ['with a letter of double width', json('{"model":"\\uff41llowed"}')],
  ['with a combining mark', json('{"model":"allowed\\u0301"}')],
  ['with a soft hyphen under a glob', json('{"model":"allowed-\\u00adother"}')],
  ['walking out of a glob', json('{"model":"allowed-/../other"}')],
  ['with a query under a glob', json('{"model":"allowed-x?model=other"}')],
  ['with a fragment of JSON under a glob', json('{"model":"allowed-\\",\\"model\\":\\"other"}')],
  ['with a new line under a glob', json('{"model":"allowed-x\\nother"}')],
  ['a list', json('{"model":["allowed","other"]}')],
  ['a list of one', json('{"model":["allowed"]}')],
  ['an object', json('{"model":{"name":"other"}}')],
  ['a number', json('{"model":0}')],
  ['twice', json('{"model":"allowed","model":"other"}')],
  ['twice, the other first', json('{"model":"other","model":"allowed"}')],
  ['twice, once escaped', json('{"model":"allowed","mod\\u0065l":"other"}')],
  ['twice, once in capitals', json('{"model":"allowed","MODEL":"other"}')],
  ['twice, once cut by a NUL', json('{"model":"allowed","model\\u0000":"other"}')],
  ['twice, far apart', json(`{"model":"allowed","x":"${'y'.repeat(300_000)}","model":"other"}`)],
  ['in a second value', json('{"model":"allowed"}{"model":"other"}')],
  ['in a second line', json('{"model":"allowed"}\n{"model":"other"}')],
  ['in a list of bodies', json('[{"model":"allowed"},{"model":"other"}]')],
  ['behind a byte order mark', json('\ufeff{"model":"other"}')],
  ['behind a byte order mark, allowed', json('\ufeff{"model":"allowed"}')],
  ['behind a comment', json('{/* "model":"allowed", */"model":"other"}')],
  ['without quotes', json('{model:"other"}')],
  ['with single quotes', json('{"model":"allowed",\'model\':\'other\'}')],
  ['with a trailing comma', json('{"model":"allowed",}')],
  ['in UTF-16', { body: Buffer.from('{"model":"other"}', 'utf16le') }],
  [
    'in UTF-16, said so',
    {
      headers: { 'Content-Type': 'application/json; charset=utf-16' },
      body: Buffer.from('{"model":"other"}', 'utf16le'),
    },
  ],
  [
    'in UTF-7, said so',
    { headers: { 'Content-Type': 'application/json; charset=utf-7' }, body: '{"model":"allowed"}' },
  ],
  [
    'in Latin 1',
    {
      headers: { 'Content-Type': 'application/json; charset=iso-8859-1' },
      body: '{"model":"allowed"}',
    },
  ],
  [
    'with a broken letter in a key',
    {
      body: Buffer.concat([
        Buffer.from('{"model":"allowed","mod'),
        Buffer.from([0xc1, 0xa5]),
        Buffer.from('l":"other"}'),
      ]),
    },
  ],
  ['as plain text', { headers: { 'Content-Type': 'text/plain' }, body: '{"model":"other"}' }],
  [
    'as a form that is JSON',
    {
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: '{"model":"allowed"}',
    },
  ],
  [
    'as a form',
    { headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: 'model=other' },
  ],
  ['as JSON that is a form', { body: 'model=other' }],
  [
    'as JSON and a form at once',
    {
      headers: { 'Content-Type': 'application/json; application/x-www-form-urlencoded' },
      body: '{"model":"allowed","x":"&model=other&"}',
    },
  ],
  [
    'as two types in one header',
    {
      headers: { 'Content-Type': 'application/json, application/x-www-form-urlencoded' },
      body: '{"model":"allowed","x":"&model=other&"}',
    },
  ],
  [
    'as a type behind a space',
    {
      headers: { 'Content-Type': 'text/plain application/x-www-form-urlencoded' },
      body: '{"model":"allowed","x":"&model=other&"}',
    },
  ],
  [
    'as JSON with a boundary',
    {
      headers: { 'Content-Type': 'application/json; multipart/form-data; boundary=b' },
      body: '{"model":"allowed"}',
    },
  ],
  ['as YAML', { headers: { 'Content-Type': 'application/yaml' }, body: 'model: other' }],
  ['as XML', { headers: { 'Content-Type': 'application/xml' }, body: '<model>other</model>' }],
  [
    'as MessagePack',
    {
      headers: { 'Content-Type': 'application/msgpack' },
      body: Buffer.from('81a56d6f64656ca56f74686572', 'hex'),
    },
  ],
  [
    'as CBOR',
    {
      headers: { 'Content-Type': 'application/cbor' },
      body: Buffer.from('a1656d6f64656c656f74686572', 'hex'),
    },
  ],
  [
    'encoded',
    { headers: { ...JSON_TYPE, 'Content-Encoding': 'gzip' }, body: gzipSync('{"model":"other"}') },
  ],
  [
    'encoded by its old name',
    {
      headers: { ...JSON_TYPE, 'Content-Encoding': 'x-gzip' },
      body: gzipSync('{"model":"other"}'),
    },
  ],
  [
    'encoded twice',
    {
      headers: { ...JSON_TYPE, 'Content-Encoding': 'gzip, gzip' },
      body: gzipSync(gzipSync('{"model":"other"}')),
    },
  ],
  ['encoded and not said so', { body: gzipSync('{"model":"other"}') }],
  [
    'not encoded but said so',
    { headers: { ...JSON_TYPE, 'Content-Encoding': 'gzip' }, body: '{"model":"allowed"}' },
  ],
  [
    'in two encoded members',
    {
      headers: { ...JSON_TYPE, 'Content-Encoding': 'gzip' },
      body: Buffer.concat([gzipSync('{"model":"allowed"'), gzipSync(',"model":"other"}')]),
    },
  ],
  ['in the query', { path: `${CHAT.path}?model=other`, ...json('{"model":"allowed"}') }],
  ['in the query, encoded', { path: `${CHAT.path}?%6dodel=other`, ...json('{"model":"allowed"}') }],
  [
    'in the query, encoded twice',
    { path: `${CHAT.path}?%256dodel=other`, ...json('{"model":"allowed"}') },
  ],
  [
    'in the query, as a list',
    { path: `${CHAT.path}?model[]=other`, ...json('{"model":"allowed"}') },
  ],
  [
    'in the query, as a map',
    { path: `${CHAT.path}?x=1&model[a]=other`, ...json('{"model":"allowed"}') },
  ],
  [
    'in the query, behind a semicolon',
    { path: `${CHAT.path}?x=1;model=other`, ...json('{"model":"allowed"}') },
  ],
  [
    'in the query, in capitals',
    { path: `${CHAT.path}?Model=other`, ...json('{"model":"allowed"}') },
  ],
  [
    'in the query, behind a plus',
    { path: `${CHAT.path}?+model=other`, ...json('{"model":"allowed"}') },
  ],
  [
    'in the query, twice',
    { path: `${CHAT.path}?model=allowed&model=other`, ...json('{"model":"allowed"}') },
  ],
  ['in the path', { id: 'google', path: '/v1beta/models/other:generateContent', ...json('{}') }],
  [
    'in the path, encoded',
    { id: 'google', path: '/v1beta/models/allowed%2F..%2Fother:generateContent', ...json('{}') },
  ],
  [
    'in the path, twice',
    {
      id: 'google',
      path: '/v1beta/models/allowed:generateContent/models/other:generateContent',
      ...json('{}'),
    },
  ],
  [
    'in the path, behind a semicolon',
    { id: 'google', path: '/v1beta/models/allowed;/models/other:generateContent', ...json('{}') },
  ],
  [
    'in the path of a tuned model',
    { id: 'google', path: '/v1beta/tunedModels/allowed:generateContent', ...json('{}') },
  ],
  [
    'in path and body',
    {
      id: 'google',
      path: '/v1beta/models/allowed:generateContent',
      ...json('{"model":"models/other"}'),
    },
  ],
  [
    'in path and query',
    { id: 'google', path: '/v1beta/models/allowed:generateContent?model=other', ...json('{}') },
  ],
  [
    'in the path of a gateway',
    { id: 'added', path: '/engines/other/chat/completions', ...json('{"model":"allowed"}') },
  ],
  [
    'in the path of a gateway, as a deployment',
    {
      id: 'added',
      path: '/openai/deployments/other/chat/completions',
      ...json('{"model":"allowed"}'),
    },
  ],
  [
    'in the path of a gateway, with slashes',
    { id: 'added', path: '/v1//Engines//other//chat/completions', ...json('{"model":"allowed"}') },
  ],
  [
    'in the path of a gateway, behind an allowed one',
    {
      id: 'added',
      path: '/models/allowed/engines/other/chat/completions',
      ...json('{"model":"allowed"}'),
    },
  ],
  [
    'in the path of a server, with its owner',
    {
      id: 'added',
      path: '/models/owner/other/v1/chat/completions',
      ...json('{"model":"allowed"}'),
    },
  ],
  [
    'in the path of a form',
    { ...form([ALLOWED]), id: 'added', path: '/openai/deployments/other/audio/transcriptions' },
  ],
  [
    'in the body of a gateway whose path names an allowed one',
    { id: 'added', path: '/engines/allowed/chat/completions', ...json('{"model":"other"}') },
  ],
  [
    'in `extra_body` of a gateway',
    { id: 'added', ...json('{"model":"allowed","extra_body":{"model":"other"}}') },
  ],
  [
    'in a header of a gateway',
    {
      id: 'added',
      headers: { ...JSON_TYPE, 'X-Portkey-Config': '{"override_params":{"model":"other"}}' },
      ...json('{"model":"allowed"}'),
    },
  ],
  [
    'in a header of a gateway, by underscores',
    {
      id: 'added',
      headers: { ...JSON_TYPE, X_Portkey_Config: 'pc-1' },
      ...json('{"model":"allowed"}'),
    },
  ],
  [
    "in an address of a gateway's",
    {
      id: 'added',
      headers: { ...JSON_TYPE, 'Helicone-Target-Url': 'https://other.test' },
      ...json('{"model":"allowed"}'),
    },
  ],
  ['by another method', { method: 'PUT', ...json('{"model":"other"}') }],
  ['without a body', {}],

  ['form: another model', form([field('model', 'other')])],
  ['form: twice', form([ALLOWED, field('model', 'other')])],
  ['form: twice, the other first', form([field('model', 'other'), ALLOWED])],
  ['form: in capitals', form([ALLOWED, field('MODEL', 'other')])],
  ['form: as a list', form([ALLOWED, field('model[]', 'other')])],
  ['form: as an entry of a list', form([ALLOWED, field('model[0]', 'other')])],
  ['form: with space', form([ALLOWED, field(' model', 'other')])],
  [
    'form: with a name beyond ASCII',
    form([ALLOWED, disposition('name="x"; name*=UTF-8\'\'model')]),
  ],
  ['form: only with a name beyond ASCII', form([ALLOWED, disposition("name*=UTF-8''model")])],
  ['form: with two names', form([ALLOWED, disposition('name="x"; name="model"')])],
  ['form: with two names, the other first', form([disposition('name="model"; name="x"')])],
  ['form: without quotes', form([ALLOWED, disposition('name=model')])],
  ['form: with single quotes', form([ALLOWED, disposition("name='model'")])],
  ['form: with an escape', form([ALLOWED, disposition(String.raw`name="mod\el"`)])],
  ['form: with percent', form([ALLOWED, disposition('name="mod%65l"')])],
  ['form: as a file', form([ALLOWED, disposition('name="model"; filename="x"')])],
  [
    'form: as a file whose name holds a name',
    form([ALLOWED, disposition('filename="x\\"; name="model"; x="')]),
  ],
  ['form: only as a file', form([disposition('name="model"; filename="x"', 'allowed')])],
  [
    'form: with a folded header',
    form([ALLOWED, 'Content-Disposition: form-data;\r\n name="model"\r\n\r\nother']),
  ],
  [
    'form: with two dispositions',
    form([
      ALLOWED,
      'Content-Disposition: form-data; name="x"\r\nContent-Disposition: form-data; name="model"\r\n\r\nother',
    ]),
  ],
  [
    'form: in base64',
    form([
      'Content-Disposition: form-data; name="model"\r\nContent-Transfer-Encoding: base64\r\n\r\nb3RoZXI=',
    ]),
  ],
  [
    'form: in another charset',
    form([
      'Content-Disposition: form-data; name="model"\r\nContent-Type: text/plain; charset=utf-16\r\n\r\nallowed',
    ]),
  ],
  [
    'form: a form within',
    form([
      ALLOWED,
      'Content-Disposition: form-data; name="x"\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Disposition: form-data; name="model"\r\n\r\nother\r\n--c--',
    ]),
  ],
  [
    'form: in front',
    form([ALLOWED], {
      before: '--b \r\nContent-Disposition: form-data; name="model"\r\n\r\nother\r\n',
    }),
  ],
  [
    'form: behind',
    form([ALLOWED], {
      after: '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nother\r\n--b--\r\n',
    }),
  ],
  [
    'form: with single line feeds',
    form([field('model', 'allowed', '\n'), field('model', 'other', '\n')], { newline: '\n' }),
  ],
  [
    'form: with line feeds inside',
    form([
      `Content-Disposition: form-data; name="x"\r\n\r\ny\n--b\nContent-Disposition: form-data; name="model"\n\nother\n--b\nContent-Disposition: form-data; name="z"\n\n`,
      ALLOWED,
    ]),
  ],
  [
    'form: with two boundaries',
    form([ALLOWED], { type: 'multipart/form-data; boundary=c; boundary=b' }),
  ],
  [
    'form: with a boundary beyond ASCII',
    form([ALLOWED], { type: "multipart/form-data; boundary=c; boundary*=UTF-8''b" }),
  ],
  ['form: of another kind', form([ALLOWED], { type: 'multipart/mixed; boundary=b' })],
  ['form: said to be JSON', { ...form([ALLOWED]), headers: JSON_TYPE }],
  [
    'form: JSON said to be one',
    {
      ...SPEECH,
      headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
      body: '{"model":"allowed"}',
    },
  ],
  [
    'form: not ended',
    {
      ...SPEECH,
      headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
      body: `--b\r\n${ALLOWED}\r\n--b\r\n${field('model', 'other')}`,
    },
  ],
]

test("no attack on a key's models reaches the upstream", async (t) => {
  const scoped = await startScoped(t)
  for (const [name, attack] of ATTACKS) await refused(scoped, attack, name)
})

test("the same requests pass if they name the key's model once", async (t) => {
  const { ask } = await startScoped(t)
  const fair: readonly Attack[] = [
    json('{"model":"allowed"}'),
    json('{"model":"allowed-mini","mоdel":"other"}'),
    { ...json('{"model":"allowed"}'), headers: {} },
    { ...json('{"model":"allowed"}'), headers: { 'Content-Type': 'text/plain' } },
    {
      ...json('{"model":"allowed"}'),
      headers: { 'Content-Type': 'application/json; charset="utf-8"' },
    },
    { ...json('{"model":"allowed"}'), headers: { 'Content-Type': 'application/vnd.api+json' } },
    {
      headers: { ...JSON_TYPE, 'Content-Encoding': 'gzip' },
      body: gzipSync('{"model":"allowed"}'),
    },
    form([ALLOWED, disposition('name="file"; filename="a.wav"', 'other')]),
    form([ALLOWED], { type: 'multipart/form-data; boundary="b"' }),
    { id: 'added', path: '/engines/allowed/chat/completions', ...json('{}') },
    { id: 'added', path: '/models/allowed/v1/chat/completions', ...json('{"model":"allowed-x"}') },
    { id: 'added', path: '/accounts/a/ai/v1/chat/completions', ...json('{"model":"allowed"}') },
  ]
  for (const { id = 'openai', path = CHAT.path, headers = JSON_TYPE, body } of fair) {
    const got = await ask(id, path, KEY, {
      headers: { ...headers },
      ...(body !== undefined && { body }),
    })
    assert.deepEqual(
      [got.status, got.sent],
      [200, 1],
      `${JSON.stringify(headers)} ${String(body)}: ${got.body}`,
    )
  }
})

test('chunks, trailers and early ends cannot smuggle another model', async (t) => {
  const { served } = await startScoped(t)
  const { secret } = await served.key({ models: [...KEY] })
  const post = (id: Id, path: string, head: string, body: string) =>
    raw(
      served.port,
      `POST /proxy?url=${encodeURIComponent(ORIGINS[id] + path)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nConnection: close\r\nContent-Type: application/json\r\n${head}\r\n${body}`,
    )
  const chunked = (text: string, trailer = '') =>
    `${[...text].map((letter) => `1\r\n${letter}\r\n`).join('')}0\r\n${trailer}\r\n`
  const CHUNKED = 'Transfer-Encoding: chunked\r\n'
  const cases: [head: string, body: string][] = [
    [CHUNKED, chunked('{"model":"other"}')],
    [CHUNKED, chunked('{"model":"allowed","model":"other"}')],
    [`${CHUNKED}Content-Length: 4\r\n`, chunked('{"model":"other"}')],
    ['Content-Length: 19\r\nContent-Length: 20\r\n', '{"model":"allowed"} '],
    ['Transfer-Encoding: gzip, chunked\r\n', chunked('{"model":"allowed"}')],
    [
      'Content-Length: 19\r\nContent-Type: application/x-www-form-urlencoded\r\n',
      '{"model":"allowed"}',
    ],
  ]
  for (const [head, body] of cases) {
    const got = await post('openai', CHAT.path, head, body)
    assert.match(got, /^HTTP\/1\.1 (?:400|403|501) /, head)
  }
  assert.equal(served.fake.requests.length, 0)
  // A trailer may be taken for a header: RFC 9110, section 6.5.2.
  const got = await post(
    'azure',
    '/openai/v1/responses',
    `${CHUNKED}Trailer: X-Ms-Oai-Image-Generation-Deployment, Content-Type\r\n`,
    chunked(
      '{"model":"allowed"}',
      'X-Ms-Oai-Image-Generation-Deployment: other\r\nContent-Type: application/x-www-form-urlencoded\r\n',
    ),
  )
  assert.match(got, /^HTTP\/1\.1 (?:200|400|403) /)
  for (const request of served.fake.requests)
    assert.doesNotMatch(JSON.stringify([request.rawHeaders, request.trailers]), /other|urlencoded/)
})

/**
 * How a form is read by two readers that are in use: `@fastify/busboy` and undici. Undefined where
 * one cannot.
 */
async function formReadings(
  type: string,
  body: Buffer,
): Promise<{ busboy: string[] | undefined; undici: string[] | undefined }> {
  const busboy = await new Promise<string[] | undefined>((resolve) => {
    const found: string[] = []
    try {
      const reader = new Busboy({ headers: { 'content-type': type } })
      reader.on('field', (name: string, value: string) => {
        if (name === 'model') found.push(value)
      })
      reader.on('file', (_: string, stream: NodeJS.ReadableStream) => stream.resume())
      reader.on('finish', () => resolve(found))
      reader.on('error', () => resolve(undefined))
      reader.end(body)
    } catch {
      resolve(undefined)
    }
  })
  const undici = await new Response(new Uint8Array(body), { headers: { 'Content-Type': type } })
    .formData()
    .then(
      (data) => data.getAll('model').map(String),
      () => undefined,
    )
  return { busboy, undici }
}

test('no generated form passes in which a common parser finds another model', async (t) => {
  const { ask, served } = await startScoped(t)
  const dispositions = fc.constantFrom(
    'name="model"',
    'name=model',
    'name="x"',
    'name="file"; filename="a.wav"',
    'name="x"; name="model"',
    'filename="\\"; name="model"',
    'name="model"; filename=""',
    'name="Model"',
    'name="model "',
    "name*=UTF-8''model",
    'name="x"; filename="b"; name="model"',
  )
  const part = fc.record({
    disposition: dispositions,
    value: fc.constantFrom(
      'allowed',
      'other',
      'allowed-x',
      '',
      'other\n--b',
      '--b--',
      'other\r\n--c',
    ),
    extra: fc.constantFrom(
      '',
      '',
      '',
      'Content-Type: text/plain\r\n',
      'Content-Transfer-Encoding: quoted-printable\r\n',
      'X: y\r\n',
    ),
  })
  const plain = fc.constant({ disposition: 'name="model"', value: 'allowed', extra: '' })
  const gap = fc.oneof(
    { weight: 6, arbitrary: fc.constant('\r\n') },
    fc.constantFrom('\n', ' \r\n', '\r\n\r\n'),
  )
  const type = fc.constantFrom(
    'multipart/form-data; boundary=b',
    'multipart/form-data; boundary="b"',
    'multipart/form-data;boundary=b;charset=utf-8',
    'Multipart/Form-Data; Boundary=b',
    'multipart/form-data; boundary=b; boundary=c',
  )
  let passed = 0
  await fc.assert(
    fc.asyncProperty(
      fc
        .tuple(plain, fc.array(part, { maxLength: 2 }), fc.boolean())
        .map(([first, others, isFirst]) => (isFirst ? [first, ...others] : [...others, first])),
      gap,
      type,
      fc.constantFrom('', '', 'x\r\n', '\r\n'),
      async (parts, line, contentType, before) => {
        const body = Buffer.from(
          `${before}${parts.map(({ disposition: how, value, extra }) => `--b${line}Content-Disposition: form-data; ${how}\r\n${extra}\r\n${value}\r\n`).join('')}--b--\r\n`,
        )
        const got = await ask('openai', SPEECH.path, KEY, {
          headers: { 'Content-Type': contentType },
          body,
        })
        if (got.sent === 0) return
        passed++
        const readings = await formReadings(contentType, body)
        for (const [reader, models] of Object.entries(readings)) {
          assert.ok(
            (models ?? []).every((name) => ['allowed', 'allowed-x'].includes(name)),
            `${reader} reads ${String(models)} in ${contentType} ${JSON.stringify(body.toString())}`,
          )
        }
      },
    ),
    { numRuns: 200 },
  )
  assert.equal(served.fake.requests.length, passed)
  assert.ok(passed > 20, `${passed} of 200 passed: too few to mean anything`)
})

/** A JSON text whose members are written out, so that keys may repeat. */
const text = (members: readonly (readonly [string, string])[]): string =>
  `{${members.map(([key, value]) => `${key}:${value}`).join(',')}}`

/**
 * What servers could read as the model: the last or first member of that name, case and escapes
 * aside.
 */
function readings(body: string): string[] {
  const names: string[] = []
  for (const [, key = '', value = ''] of body.matchAll(
    /("(?:[^"\\]|\\.)*")\s*:\s*("(?:[^"\\]|\\.)*")/g,
  )) {
    const name = JSON.parse(key) as string
    if (name.split('\0', 1)[0]!.toLowerCase() === 'model') names.push(JSON.parse(value) as string)
  }
  return names
}

test('no generated body passes in which any server could read another model', async (t) => {
  const { ask } = await startScoped(t)
  const escape = (word: string) =>
    fc
      .array(fc.boolean(), { minLength: word.length, maxLength: word.length })
      .map((hidden) =>
        [...word]
          .map((letter, i) =>
            hidden[i] ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}` : letter,
          )
          .join(''),
      )
  const key = fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom('x', 'messages', 'stream', 'models_') },
    fc.constantFrom('model', 'Model', 'MODEL', 'model\\u0000'),
    escape('model'),
  )
  const value = fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom('"allowed"', '"allowed-x"') },
    fc.constantFrom('"other"', 'null', '1', '[]', '"Allowed"', '{"model":"other"}', '["other"]'),
    escape('allowed').map((name) => `"${name}"`),
  )
  const space = fc.constantFrom('', ' ', '\n', '\t')
  let passed = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.oneof({ weight: 2, arbitrary: fc.constant('model') }, key), value), {
        maxLength: 4,
      }),
      space,
      fc.oneof({ weight: 4, arbitrary: space }, fc.constantFrom('{}', '\0', ',', '\ufeff')),
      async (members, before, after) => {
        const body = `${before}${text(members.map(([name, one]) => [`"${name}"`, one]))}${after}`
        const got = await ask('openai', CHAT.path, KEY, { headers: JSON_TYPE, body })
        if (got.sent === 0) return
        passed++
        // A `model` within something else is nobody's model.
        const top = text(
          members
            .filter(([, one]) => !one.startsWith('{'))
            .map(([name, one]) => [`"${name}"`, one]),
        )
        const names = readings(top)
        assert.ok(
          names.length === 1 && ['allowed', 'allowed-x'].includes(names[0]!),
          `${body} passed: ${names.join()}`,
        )
      },
    ),
    { numRuns: 300 },
  )
  assert.ok(passed > 5, `${passed} of 300 passed: too few to mean anything`)
})
