// Another key's object is refused in bodies of every kind: parts of forms, whatever they are called
// or encoded; what cannot be read names nothing for certain and is refused for keys with objects of
// their own. Sound, pictures and files pass.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { respond, headerOf } from '../../support/providers/fake.ts'
import { MISTRAL, more, V1 } from './object-places.ts'
import { startServed } from '../support/served.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }
const part = (head: string, content: string | Buffer) =>
  Buffer.concat([
    Buffer.from(`--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ])
const form = (...parts: Buffer[]) =>
  Buffer.concat([part('name="model"', 'm'), ...parts, Buffer.from('--b--\r\n')])
const base64 = (text: string) => Buffer.from(text).toString('base64')
const quoted = (text: string) =>
  [...text]
    .map((one) => `=${one.charCodeAt(0).toString(16)}`)
    .join('')
    .replaceAll(/(.{60})/g, '$1=\r\n')
const SOUND = Buffer.concat([Buffer.from('RIFF'), randomBytes(200_000)])
const file = part('name="file"; filename="a.wav"\r\nContent-Type: audio/wav', SOUND)

const hidden = '{"a":[{"file_id":"file-theirs"}]}'
/** TABLE of parts that name another key's object. */
const PARTS: [what: string, part: Buffer][] = [
  ['a text', part('name="anything"', 'file-theirs')],
  ['a text with spaces', part('name="anything"', '\n file-theirs\r\n')],
  ['JSON in a text', part('name="metadata"', hidden)],
  ['JSON with an escape', part('name="metadata"', hidden.replace('-', '\\u002d'))],
  ['JSON behind spaces', part('name="metadata"', `${' '.repeat(5_000)}${hidden}`)],
  ['JSON behind a mark', part('name="metadata"', `\ufeff${hidden}`)],
  ['long JSON', part('name="metadata"', `["${'x'.repeat(100_000)}",${hidden}]`)],
  [
    'deep JSON',
    part('name="metadata"', `{"x":${'['.repeat(600)}${']'.repeat(600)},"y":"file-theirs"}`),
  ],
  ['a text in JSON', part('name="metadata"', '"file-theirs"')],
  ['JSON with a comma too many', part('name="metadata"', '{"x":[1,],"y":"file-theirs"}')],
  [
    'a part of JSON',
    part('name="metadata"\r\nContent-Type: application/json; charset=utf-8', hidden),
  ],
  [
    'a file of JSON',
    part('name="request"; filename="a.json"\r\nContent-Type: application/json', hidden),
  ],
  ['a file of text', part('name="request"; filename="a.txt"', 'file-theirs')],
  ['base64', part('name="x"\r\nContent-Transfer-Encoding: base64', base64('file-theirs'))],
  [
    'base64 in lines',
    part(
      'name="x"\r\nContent-Transfer-Encoding: BASE64',
      base64(hidden).replaceAll(/(.{7})/g, '$1\r\n'),
    ),
  ],
  [
    'JSON in base64, a file',
    part(
      'name="x"; filename="x"\r\nContent-Type: application/json\r\nContent-Transfer-Encoding: base64',
      base64(hidden),
    ),
  ],
  [
    'quoted-printable',
    part('name="x"\r\nContent-Transfer-Encoding: quoted-printable', quoted('file-theirs')),
  ],
  [
    'JSON in quoted-printable',
    part('name="x"\r\nContent-Transfer-Encoding: Quoted-Printable', quoted(hidden)),
  ],
  ['a name', part('name="file-theirs"', 'x')],
]
/** TABLE of parts that are not read. */
const UNREADABLE: [what: string, part: Buffer][] = [
  ['another encoding', part('name="x"\r\nContent-Transfer-Encoding: x-uuencode', 'x')],
  ['UTF-16', part('name="x"\r\nContent-Type: text/plain; charset=utf-16le', 'x')],
  [
    'UTF-7',
    part('name="x"\r\nContent-Type: application/json; charset="utf-7"', '"+AGY-ile-theirs"'),
  ],
  [
    'parts in a part',
    part(
      'name="x"\r\nContent-Type: multipart/mixed; boundary=c',
      '--c\r\n\r\nfile-theirs\r\n--c--',
    ),
  ],
  [
    'two types',
    part('name="x"\r\nContent-Type: text/plain\r\nContent-Type: multipart/mixed; boundary=c', 'x'),
  ],
]
/** TABLE of forms that anybody may send. */
const ORDINARY: [what: string, part: Buffer][] = [
  ['sound', file],
  [
    'sound in base64',
    part(
      'name="file"; filename="a"\r\nContent-Type: audio/wav\r\nContent-Transfer-Encoding: base64',
      base64('RIFF'),
    ),
  ],
  ['a prompt that mentions an id', part('name="prompt"', 'What is in file-theirs?')],
  ['a prompt that begins as a list does', part('name="prompt"', '[verse 1] file under theirs')],
  ['a prompt that begins as an object does', part('name="prompt"', "{ I don't know }")],
  ['JSON', part('name="chunking_strategy"', '{"type":"server_vad","threshold":0.5}')],
  ['a list', part('name="timestamp_granularities[]"', 'word')],
  [
    'Latin letters',
    part(
      'name="prompt"\r\nContent-Type: text/plain; charset=ISO-8859-1',
      Buffer.from('Gr\xfc\xdfe', 'latin1'),
    ),
  ],
  [
    'the encodings that change nothing',
    part('name="prompt"\r\nContent-Transfer-Encoding: 8bit', 'Grüße'),
  ],
  [
    'a picture with a tiny picture',
    Buffer.concat([
      part('name="image[]"; filename="a.png"\r\nContent-Type: image/png', randomBytes(10)),
      part('name="image[]"; filename="b.svg"\r\nContent-Type: image/svg+xml', '<svg/>'),
    ]),
  ],
  [
    'a file of JSON with ids that nobody made',
    part('name="x"; filename="log.txt"', `{"id":"file-68a1b2c3d4e5f60718293a4b"}`),
  ],
]
/**
 * TABLE of endpoints that take a form: one whose fields name nothing, one whose fields do, and one
 * that nobody knows.
 */
const FORMS = [`${V1}/audio/transcriptions`, `${V1}/videos`, `${V1}/of/tomorrow`]

test("a form part that names another key's object is refused, whatever its name and encoding", async (t) => {
  const { fake, key, send } = await startServed(
    t,
    respond(200, JSON_TYPE, '{"id":"file-theirs"}'),
    more,
  )
  const [theirs, own, upstream, scoped] = [
    await key(),
    await key(),
    await key({ objects: 'upstream' }),
    await key({ models: ['m'] }),
  ]
  await send(theirs.secret, `${V1}/files`, { body: '{}', headers: JSON_TYPE })
  fake.play(respond(200, JSON_TYPE, '{}'))
  const post = async ({ secret }: { secret: string }, address: string, body: Buffer) => {
    const got = await send(secret, address, {
      body,
      headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
    })
    return `${got.status} ${headerOf(got.rawHeaders, 'x-proxy-error') ?? ''}`.trim()
  }
  for (const [i, [what, one]] of PARTS.entries()) {
    const address = FORMS[i % FORMS.length]!
    const body = form(one, file)
    for (const other of [own, upstream])
      assert.equal(
        await post(other, address, body),
        '403 endpoint_not_allowed',
        `${what} ${address}`,
      )
    assert.equal(await post(scoped, FORMS[0]!, body), '403 endpoint_not_allowed', what)
    assert.equal(await post(theirs, address, body), '200', what)
  }
  for (const [what, one] of UNREADABLE)
    for (const other of [own, scoped])
      assert.equal(await post(other, FORMS[0]!, form(one)), '400 ambiguous_body', what)
  for (const [what, one] of ORDINARY) {
    for (const address of FORMS)
      assert.equal(await post(own, address, form(one)), '200', `${what} ${address}`)
    assert.equal(await post(scoped, FORMS[0]!, form(one)), '200', what)
  }
  // What is uploaded to be stored is content.
  for (const address of [`${V1}/files`, `${V1}/skills`, `${MISTRAL}/libraries`])
    assert.equal(
      await post(own, address, form(part('name="purpose"', 'user_data'), file)),
      '200',
      address,
    )
})

const OCTETS = 'application/octet-stream'
/** How Protocol Buffers write a text: its tag and its length stand before it. */
const proto = (text: string) =>
  Buffer.concat([Buffer.from([0x32, text.length]), Buffer.from(text), Buffer.from([0x18, 0x01])])
const HEX = '68a1b2c3d4e5f60718293a4b5c6d7e8f68a1b2c3d4e5f607'

test('a body that is neither JSON nor a form is refused where it could be a request; a file passes', async (t) => {
  const { fake, key, send } = await startServed(
    t,
    respond(200, JSON_TYPE, `{"id":"resp_${HEX}"}`),
    more,
  )
  const [theirs, own] = [await key(), await key()]
  await send(theirs.secret, `${V1}/responses`, { body: '{"model":"m"}', headers: JSON_TYPE })
  fake.play(respond(200, JSON_TYPE, '{}'))
  const post = async (address: string, type: string, body: Buffer | string) => {
    const got = await send(own.secret, address, {
      body,
      headers: type === '' ? {} : { 'Content-Type': type },
    })
    return `${got.status} ${headerOf(got.rawHeaders, 'x-proxy-error') ?? ''}`.trim()
  }
  const json = `{"x":"resp_${HEX}"}`
  const neutral = `${V1}/threads`
  const unknown = `${V1}/of/tomorrow`
  /** TABLE of bodies, and what becomes of them everywhere. */
  const cases: [type: string, body: Buffer | string, ending: string][] = [
    ...[
      'application/xml',
      'text/xml',
      'application/x-protobuf',
      'application/grpc',
      'application/msgpack',
      'application/cbor',
      'application/yaml',
      'text/csv',
      'text/html',
      'x/y',
    ].map((type): [string, string, string] => [type, '<a>&#114;esp</a>', '400 ambiguous_body']),
    ['application/json; charset=utf-16', Buffer.from('{}', 'utf16le'), '400 ambiguous_body'],
    ['application/json; charset=utf-7', '{}', '400 ambiguous_body'],
    ['application/json; charset=ibm037', '{}', '400 ambiguous_body'],
    ['application/json; charset=utf-8; charset=utf-16', '{}', '400 ambiguous_body'],
    ['application/json, multipart/form-data', '{}', '400 ambiguous_body'],
    ['application/json', Buffer.from(json, 'utf16le'), '400 ambiguous_body'],
    ['application/json', `{"x":[1,],"y":"resp_${HEX}"}`, '400 ambiguous_body'],
    ['application/json', "{'x':1}", '400 ambiguous_body'],
    ['application/json', `\ufeff${json}`, '403 endpoint_not_allowed'],
    ['application/json', `\ufeff{"file_id":"file-${HEX}"}`, '403 endpoint_not_allowed'],
    ['application/json', '\ufeff{"x":1}', '200'],
    ['application/json', '', '200'],
    ['audio/wav', json, '403 endpoint_not_allowed'],
    [OCTETS, json, '403 endpoint_not_allowed'],
    [OCTETS, proto(`resp_${HEX}`), '403 endpoint_not_allowed'],
    ['audio/wav', SOUND, '200'],
    ['image/png', randomBytes(5_000), '200'],
    [OCTETS, SOUND, '200'],
    ['application/pdf', '%PDF-1.7 see file-68a1b2c3d4e5f60718293a4b', '200'],
    ['application/json;charset=UTF-8', '{}', '200'],
    ['application/json; charset=iso-8859-1', '{}', '200'],
    ['application/vnd.api+json', '{}', '200'],
    ['text/plain;charset=UTF-8', '{"x":1}', '200'],
    ['', '{"x":1}', '200'],
  ]
  // Without a type it may be an upload, but not where JSON is expected.
  const untyped = `/* */{"file_id":"file-${HEX}"}`
  assert.deepEqual(
    [
      await post(neutral, '', untyped),
      await post(unknown, '', untyped),
      await post(unknown, '', SOUND),
    ],
    ['400 ambiguous_body', '403 endpoint_not_allowed', '200'],
  )
  for (const [type, body, ending] of cases)
    for (const address of [neutral, unknown])
      assert.equal(
        await post(address, type, body),
        ending,
        `${type} ${address} ${body.toString().slice(0, 40)}`,
      )
})
