// An object that another key made is refused wherever a request spells its id outside of a body: a
// query, a header, a file name, a trailer.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { respond, headerOf } from '../../support/providers/fake.ts'
import { GOOGLE, raw, startServed } from '../support/served.ts'
import { V1 } from './object-places.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }
const ID = 'file-abcdefgh12345678'
const CHAT = '{"model":"gpt-5","messages":[]}'

test('an upload belongs to its creator at any path of the host and any spelling of its parameter', async (t) => {
  const upload = 'UPLabcdef0123456789'
  const begun = `${GOOGLE}/upload/v1beta/files?upload_id=${upload}&upload_protocol=resumable`
  const { fake, key, send } = await startServed(
    t,
    respond(200, { 'X-Goog-Upload-URL': begun, 'Content-Type': 'text/plain' }, ''),
  )
  const [mine, theirs] = [await key(), await key()]
  const begins = { body: '{}', headers: { ...JSON_TYPE, 'X-Goog-Upload-Command': 'start' } }
  assert.equal((await send(mine.secret, `${GOOGLE}/upload/v1beta/files`, begins)).status, 200)
  fake.play(respond(200, JSON_TYPE, '{}'))
  const paths = [
    '/resumable/upload/v1beta/files',
    '/upload/v1beta/files:upload',
    '/upload/v1beta/corpora',
    '/upload/v1beta/models/x:y',
    '/upload',
    '/upload/',
    '/v1beta/files',
    '/v1beta/media',
    '/upload/v1beta/files',
  ]
  const names = [
    'upload_id',
    'uploadId',
    'UPLOAD-ID',
    'upload%5Fid',
    'upload%255Fid',
    'upload_id[]',
    'x=1;upload_id',
  ]
  const addresses = [
    ...paths.map((path) => `${path}?upload_id=${upload}`),
    ...names.map((name) => `/upload/v1beta/files?${name}=${upload}`),
  ]
  for (const at of addresses) {
    assert.equal((await send(theirs.secret, `${GOOGLE}${at}`, { body: 'x' })).status, 403, at)
    assert.notEqual((await send(mine.secret, `${GOOGLE}${at}`, { body: 'x' })).status, 403, at)
  }
  for (const name of ['X-GUploader-UploadID', 'x_guploader_uploadid']) {
    const sent = { body: 'x', headers: { [name]: upload } }
    assert.equal(
      (await send(theirs.secret, `${GOOGLE}/upload/v1beta/files`, sent)).status,
      403,
      name,
    )
    assert.equal((await send(mine.secret, `${GOOGLE}/upload/v1beta/files`, sent)).status, 200, name)
  }
})

/**
 * TABLE of places outside of a JSON body: what is put behind the address, headers, and a body of
 * another kind.
 */
const PLACES: [query: string, headers: Record<string, string>, body?: string][] = [
  ['', { 'X-File-Id': ID }],
  ['', { 'OpenAI-Beta': ID }],
  ['', { 'X-Custom': `["${ID}"]` }],
  ['', { 'X-Custom': encodeURIComponent(ID).replace('-', '%2D') }],
  [`?a=${encodeURIComponent(`["${ID}"]`)}`, {}],
  [`?a=${encodeURIComponent(`{"f":"${ID}","f":"x"}`)}`, {}],
  [`?${ID}`, {}],
  [`?x=1;a=${ID}`, {}],
  [
    '',
    { 'Content-Type': 'multipart/form-data; boundary=b' },
    `--b\r\nContent-Disposition: form-data; name="x"; filename="${ID}"\r\n\r\nx\r\n--b--\r\n`,
  ],
  [
    '',
    { 'Content-Type': 'multipart/form-data; boundary=b' },
    `--b\r\nContent-Disposition: form-data; name="x"; filename*=UTF-8''${ID}\r\n\r\nx\r\n--b--\r\n`,
  ],
  ...[
    `Content-ID: <${ID}>`,
    `content-id: ${ID}`,
    `Content-Location: /v1/files/${ID}`,
    `X-Part: ["x"]\r\nX-File-Id: ${ID}`,
  ].map((line): (typeof PLACES)[number] => [
    '',
    { 'Content-Type': 'multipart/form-data; boundary=b' },
    `--b\r\nContent-Disposition: form-data; name="x"\r\n${line}\r\n\r\nx\r\n--b--\r\n`,
  ]),
]

test("another key's id is recognised in a query, a header, a file name and a trailer", async (t) => {
  const { fake, key, send, port } = await startServed(
    t,
    respond(200, JSON_TYPE, JSON.stringify({ id: ID })),
  )
  const [mine, theirs] = [await key(), await key()]
  assert.equal(
    (await send(mine.secret, `${V1}/files`, { body: '{}', headers: JSON_TYPE })).status,
    200,
  )
  fake.play(respond(200, JSON_TYPE, '{}'))
  for (const [query, headers, body = CHAT] of PLACES) {
    const what = JSON.stringify([query, headers])
    const sent = { body, headers: { ...JSON_TYPE, ...headers } }
    const got = await send(theirs.secret, `${V1}/chat/completions${query}`, sent)
    assert.deepEqual(
      [got.status, headerOf(got.rawHeaders, 'x-proxy-error')],
      [403, 'endpoint_not_allowed'],
      what,
    )
    assert.equal(
      (await send(mine.secret, `${V1}/chat/completions${query}`, sent)).status,
      200,
      what,
    )
  }
  // Longer text, and what does not go up, name nothing.
  for (const headers of [{ 'X-Note': `about ${ID}` }, { Referer: ID }]) {
    assert.equal(
      (
        await send(theirs.secret, `${V1}/chat/completions`, {
          body: CHAT,
          headers: { ...JSON_TYPE, ...headers },
        })
      ).status,
      200,
      JSON.stringify(headers),
    )
  }
  const trailed = (secret: string) =>
    raw(
      port,
      `POST /proxy?url=${encodeURIComponent(`${V1}/chat/completions`)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json\r\n` +
        `Transfer-Encoding: chunked\r\nTrailer: X-File-Id\r\n\r\n${CHAT.length.toString(16)}\r\n${CHAT}\r\n0\r\nX-File-Id: ${ID}\r\n\r\n`,
    )
  assert.match(await trailed(theirs.secret), /^HTTP\/1.1 403 /)
  assert.match(await trailed(mine.secret), /^HTTP\/1.1 200 /)
})

test('the parts of an upload belong to their creator', async (t) => {
  const { fake, key, send } = await startServed(t, respond(200, JSON_TYPE, '{"id":"upload_1"}'))
  const [mine, theirs] = [await key(), await key()]
  await send(theirs.secret, `${V1}/uploads`, { body: '{}', headers: JSON_TYPE })
  fake.play(respond(200, JSON_TYPE, '{"id":"upload_2"}'))
  await send(mine.secret, `${V1}/uploads`, { body: '{}', headers: JSON_TYPE })
  fake.play(respond(200, JSON_TYPE, '{"id":"part_abcdefgh12345678"}'))
  const part =
    '--b\r\nContent-Disposition: form-data; name="data"; filename="x"\r\n\r\nx\r\n--b--\r\n'
  assert.equal(
    (
      await send(mine.secret, `${V1}/uploads/upload_2/parts`, {
        body: part,
        headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
      })
    ).status,
    200,
  )
  fake.play(respond(200, JSON_TYPE, '{}'))
  const complete = (secret: string, id: string) =>
    send(secret, `${V1}/uploads/${id}/complete`, {
      body: '{"part_ids":["part_abcdefgh12345678"]}',
      headers: JSON_TYPE,
    })
  assert.equal((await complete(theirs.secret, 'upload_1')).status, 403)
  assert.equal((await complete(mine.secret, 'upload_2')).status, 200)
})
