// What tells of an uploaded file names objects like any other request: fields and heads of a form,
// wherever they stand; JSON in place of a form; what begins an upload to Google. The file itself is
// content: it is not read, and streams.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { test } from 'node:test'
import { respond, headerOf } from '../../support/providers/fake.ts'
import { ANTHROPIC, GOOGLE, startServed, TARGETS } from '../support/served.ts'
import { COHERE, MISTRAL, more, V1 } from './object-places.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }
const FORM_TYPE = { 'Content-Type': 'multipart/form-data; boundary=b' }
const part = (head: string, content: string): string =>
  `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`
const form = (...parts: string[]): string => `${parts.join('')}--b--\r\n`
const file = (content = 'x'.repeat(10_000), head = ''): string =>
  part(`name="file"; filename="a.txt"${head}`, content)
const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** TABLE of parts that name another key's object. */
const NAMING: [what: string, part: string][] = [
  ['a field', part('name="file_id"', 'file-theirs')],
  ['a field of another name', part('name="x"', 'file-theirs')],
  ['JSON', part('name="x"', '{"a":["file-theirs"]}')],
  ['base64', part('name="x"\r\nContent-Transfer-Encoding: base64', base64('file-theirs'))],
  ['the name of a field', part('name="file-theirs"', 'x')],
  ["a file's name", part('name="file"; filename="file-theirs"', 'x')],
  ["a file's header", file('x', '\r\nX-Object: file-theirs')],
  ['Content-ID', file('x', '\r\nContent-ID: <file-theirs>')],
  ['Content-Location', file('x', '\r\nContent-Location: file-theirs')],
  ['a file in place of an id', part('name="file_id"; filename="a"', 'file-theirs')],
]
/** An id of Anthropic's. */
const THEIRS = 'file_011CNha8iCJcU1wXNR6q4V8w'
/** TABLE of endpoints to which forms are uploaded. */
const ENDPOINTS = [
  `${V1}/files`,
  `${V1}/skills`,
  `${V1}/containers/cntr_own/files`,
  `${ANTHROPIC}/v1/files`,
  `${MISTRAL}/files`,
  `${COHERE}/v1/datasets?name=x&type=y`,
]

test("an upload's metadata may not name another key's object", async (t) => {
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
  await send(theirs.secret, `${V1}/files`, { body: form(file()), headers: FORM_TYPE })
  fake.play(respond(200, JSON_TYPE, `{"id":"${THEIRS}"}`))
  await send(theirs.secret, `${ANTHROPIC}/v1/files`, { body: form(file()), headers: FORM_TYPE })
  fake.play(respond(200, JSON_TYPE, '{"id":"cntr_own"}'))
  for (const { secret } of [own, scoped])
    await send(secret, `${V1}/containers`, { body: '{"name":"x"}', headers: JSON_TYPE })
  fake.play(respond(200, JSON_TYPE, '{}'))
  const post = async ({ secret }: { secret: string }, address: string, body: string) => {
    const got = await send(secret, address, { body, headers: FORM_TYPE })
    return `${got.status} ${headerOf(got.rawHeaders, 'x-proxy-error') ?? ''}`.trim()
  }
  const before = fake.requests.length
  const refused = '403 endpoint_not_allowed'
  for (const [what, one] of NAMING)
    for (const address of ENDPOINTS.slice(0, 4)) {
      const naming = address.includes('anthropic') ? one.replaceAll('file-theirs', THEIRS) : one
      if (naming === one && address.includes('anthropic')) continue
      // A row says that this field is an id: there it is no file.
      if (what === 'a file in place of an id' && address.includes('containers')) continue
      assert.equal(await post(own, address, form(naming, file())), refused, `${what} ${address}`)
      assert.equal(await post(own, address, form(file(), naming)), refused, `behind ${what}`)
    }
  for (const other of [upstream, scoped])
    assert.equal(await post(other, `${V1}/files`, form(NAMING[0]![1], file())), refused)
  assert.equal(fake.requests.length, before)
  for (const address of ENDPOINTS) {
    assert.equal(await post(own, address, form(part('name="x"', 'y'), file())), '200', address)
    assert.equal(await post(own, address, form(file('file-theirs'))), '200', 'its content')
  }
  // A form that two parsers could read differently.
  const twofold = `--b\r\nContent-Disposition: form-data; name="x"; name="y"\r\n\r\n1\r\n`
  assert.equal(await post(own, `${V1}/files`, form(twofold)), '400 ambiguous_body')
  assert.equal(await post(own, `${V1}/files`, form(file(), twofold)), '400 ambiguous_body')
  // No form at all.
  for (const { secret } of [own, upstream, scoped])
    assert.equal(
      (await send(secret, `${V1}/files`, { body: '{"file_id":"file-theirs"}', headers: JSON_TYPE }))
        .status,
      403,
    )
})

test('a refused part after a streaming file aborts the upload', async (t) => {
  const { fake, key, send, port } = await startServed(
    t,
    respond(200, JSON_TYPE, '{"id":"file-theirs"}'),
    more,
  )
  const [theirs, own] = [await key(), await key({ rpm: 100 })]
  await send(theirs.secret, `${V1}/files`, { body: form(file()), headers: FORM_TYPE })
  for (const isChunked of [false, true])
    for (const [what, one] of [...NAMING, ['an end', '--b\r\n'] as const]) {
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
      const ended: string[] = []
      fake.play(async (call) => {
        begin()
        call.body().then(
          () => ended.push(what),
          () => {},
        )
        await call.gone()
      })
      const [head, tail] = [file().slice(0, -2), `\r\n${one}--b--\r\n`]
      const sending = request({
        port,
        host: '127.0.0.1',
        method: 'POST',
        path: TARGETS.parameter(`${V1}/files`),
        headers: {
          Authorization: `Bearer ${own.secret}`,
          ...FORM_TYPE,
          ...(isChunked ? {} : { 'Content-Length': head.length + tail.length }),
        },
      })
      sending.write(head)
      // The upstream has the beginning of the file before the rest is sent.
      await begun
      sending.end(tail)
      const [response] = (await once(sending, 'response')) as [import('node:http').IncomingMessage]
      response.resume()
      assert.equal(response.statusCode, what === 'an end' ? 400 : 403, `${what} ${isChunked}`)
      await once(response, 'end')
      assert.deepEqual(ended, [], what)
    }
})

test("a file streams, as do later parts that name no other key's objects", async (t) => {
  const { fake, key, port } = await startServed(t, respond(200, JSON_TYPE, '{"id":"file-1"}'))
  const { secret } = await key()
  const pieces = [
    part('name="purpose"', 'user_data'),
    `--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`,
    'x'.repeat(200_000),
    '\r\n--b',
    '\r\nContent-Disposition: form-data; name="file"; filename="b"\r\n\r\n',
    'y'.repeat(200_000),
    `\r\n${part('name="expires_after[seconds]"', '3600')}`,
    part('name="metadata"', '{"a":"file-1x"}'),
    '--b--\r\n',
  ]
  for (const splits of [pieces, [pieces.join('')]]) {
    const sending = request({
      port,
      host: '127.0.0.1',
      method: 'POST',
      path: TARGETS.parameter(`${V1}/files`),
      headers: { Authorization: `Bearer ${secret}`, ...FORM_TYPE },
    })
    for (const piece of splits) await new Promise((resolve) => sending.write(piece, resolve))
    sending.end()
    const [response] = (await once(sending, 'response')) as [import('node:http').IncomingMessage]
    response.resume()
    assert.equal(response.statusCode, 200)
    await once(response, 'end')
    assert.equal(fake.requests.at(-1)!.body.toString(), pieces.join(''))
  }
})

test("the start of a Google upload may not name another key's file", async (t) => {
  const { fake, key, send } = await startServed(
    t,
    respond(200, JSON_TYPE, '{"file":{"name":"files/theirs"}}'),
  )
  const [theirs, own] = [await key(), await key()]
  const UPLOAD = `${GOOGLE}/upload/v1beta/files`
  await send(theirs.secret, UPLOAD, { body: 'x', headers: { 'X-Goog-Upload-Protocol': 'raw' } })
  fake.play(respond(200, JSON_TYPE, '{}'))
  const naming = '{"file":{"name":"files/theirs"}}'
  const related = (head: string, metadata: string, media: string, mediaHead = '') =>
    `--b\r\n${head}\r\n\r\n${metadata}\r\n--b\r\nContent-Type: text/plain${mediaHead}\r\n\r\n${media}\r\n--b--\r\n`
  const RELATED = { 'Content-Type': 'multipart/related; boundary=b' }
  const json = 'Content-Type: application/json; charset=utf-8'
  /** TABLE of uploads, and whether they pass. */
  const cases: [
    what: string,
    query: string,
    headers: Record<string, string>,
    body: string,
    status: number,
  ][] = [
    ['start', '', { ...JSON_TYPE, 'X-Goog-Upload-Command': 'start' }, naming, 403],
    [
      'start as media',
      '?uploadType=media',
      { 'Content-Type': 'image/png', 'X-Goog-Upload-Command': 'start' },
      naming,
      403,
    ],
    ['resumable', '?uploadType=resumable', JSON_TYPE, naming, 403],
    ['resumable, encoded', '?uploadType=resum%61ble&x=media', JSON_TYPE, naming, 403],
    ['JSON', '', JSON_TYPE, naming, 403],
    ['related', '?uploadType=multipart', RELATED, related(json, naming, 'x'), 403],
    ['related text', '', RELATED, related('Content-Type: text/plain', 'files/theirs', 'x'), 403],
    [
      'a head of the file',
      '',
      RELATED,
      related(json, '{}', 'x', '\r\nX-Object: files/theirs'),
      403,
    ],
    // As Python's mail library writes it, whose lines end with a line feed.
    ...(
      [
        [related(json, naming, 'x'), 403],
        [related(json, '{}', 'x', '\r\nX-Object: files/theirs'), 403],
        [related(json, '{"file":{"displayName":"x"}}', naming), 200],
        [related(json, '{"file":{"displayName":"x"}}', `${naming}\r\n`), 200],
      ] as const
    ).map(([body, status]): [string, string, Record<string, string>, string, number] => [
      'related with line feeds',
      '',
      RELATED,
      body.replaceAll('\r\n', '\n'),
      status,
    ]),
    ...[
      // Both kinds of line ends.
      related(json, '{}', 'x').replace('\r\n', '\n'),
      related(json, '{}', 'x').replaceAll('\r\n', '\n').replace('--b\n', '--b\r\n'),
      related(json, '{}', 'x').replaceAll('\r\n', '\n').replace('\n--b--', '--b--'),
      related(`${json}\nX: y\r`, '{}', 'x').replaceAll('\r\n', '\n'),
    ].map((body): [string, string, Record<string, string>, string, number] => [
      'related with two kinds of line ends',
      '',
      RELATED,
      body,
      400,
    ]),
    ['a broken related', '', RELATED, related('x', '{}', 'x'), 400],
    ['a file', '', RELATED, related(json, '{"file":{"displayName":"x"}}', naming), 200],
    ['only a file', '', { ...JSON_TYPE, 'X-Goog-Upload-Protocol': 'raw' }, naming, 200],
    ['only a file', '?uploadType=media', JSON_TYPE, naming, 200],
    [
      'start of a file',
      '',
      { ...JSON_TYPE, 'X-Goog-Upload-Command': 'start' },
      '{"file":{"display_name":"x"}}',
      200,
    ],
  ]
  for (const [what, query, headers, body, status] of cases)
    assert.equal((await send(own.secret, UPLOAD + query, { body, headers })).status, status, what)
})
