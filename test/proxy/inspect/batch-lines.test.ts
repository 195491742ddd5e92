// How much of a batch's lines is looked at together: one upload must not hold up everybody else.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BatchLines } from '../../../server/proxy/inspect/batch-lines.ts'
import { BatchUrls } from '../../../server/proxy/inspect/batch-urls.ts'
import type { ObjectRef } from '../../../server/proxy/providers/object-ref.ts'
import { createProviderTable } from '../../../server/proxy/providers/table.ts'

const openai = createProviderTable().byId('openai')!
const ids = openai.ids!
const HEADERS = ['Content-Type', 'multipart/form-data; boundary=b']
const PIECE_BYTES = 65_536

const form = (ids: readonly string[]): Buffer => {
  const lines = ids.map((id) => `{"body":{"a":"${id}"}}\n`).join('')
  const field = (name: string, content: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${content}\r\n`
  return Buffer.from(`${field('purpose', 'batch')}${field('file', lines)}--b--\r\n`)
}
const numbered = (count: number): string[] => Array.from({ length: count }, (_, i) => `resp_${i}`)

/**
 * Reads lines with so many ids: what they name, and the most strings that were looked at while a
 * piece passed, and in one turn of the loop behind it.
 */
async function read(count: number) {
  let looked = 0
  const refOf = (text: string): ObjectRef | null => {
    looked++
    return ids.refOf(text)
  }
  const body = form(numbered(count))
  const lines = BatchLines.of(HEADERS, body.length, { ...openai, ids: { ...ids, refOf } })!
  let inPiece = 0
  for (let at = 0; at < body.length; at += PIECE_BYTES) {
    looked = 0
    lines.write(body.subarray(at, at + PIECE_BYTES))
    inPiece = Math.max(inPiece, looked)
  }
  let [inTurn, asking] = [0, true]
  looked = 0
  const watch = (): void => {
    inTurn = Math.max(inTurn, looked)
    looked = 0
    if (asking) setImmediate(watch)
  }
  setImmediate(watch)
  const named = await lines.named()
  asking = false
  return { named, inPiece, inTurn: Math.max(inTurn, looked) }
}

test("a batch's ids are looked up in small steps after its upload", async () => {
  const { named, inPiece, inTurn } = await read(10_000)
  assert.deepEqual(
    named?.map(({ id }) => id),
    numbered(10_000),
  )
  assert.ok(inPiece <= 32, `${inPiece} strings while a piece passed`)
  assert.ok(inTurn <= 256, `${inTurn} strings in one turn`)
})

test('a batch with too many ids is refused after the first few', async () => {
  const { named, inPiece, inTurn } = await read(50_000)
  assert.equal(named, null)
  assert.ok(inPiece + inTurn <= 32, `${inPiece} and ${inTurn} strings`)
})

test('a batch line may call only endpoints that run a model', () => {
  const table = createProviderTable({
    instances: [{ provider: 'azure', values: { resource: 'acme' } }],
  })
  const isRefused = (id: string, ...lines: unknown[]): boolean => {
    const urls = new BatchUrls(table.byId(id)!)
    for (const url of lines) urls.take(url)
    return urls.isRefused
  }
  /** TABLE of addresses that providers show in lines. */
  const shown = [
    ['openai', '/v1/responses'],
    ['openai', '/v1/images/generations'],
    ['azure', '/chat/completions'],
    ['azure', '/v1/chat/completions'],
    ['groq', '/v1/chat/completions'],
    ['groq', '/v1/audio/transcriptions'],
    ['google', '/v1/chat/completions'],
    ['mistral', '/v1/ocr'],
    ['together', '/v1/chat/completions'],
    ['xai', '/v1/chat/completions'],
    ['cohere', '/v2/chat'],
  ]
  for (const [id = '', url] of shown) assert.equal(isRefused(id, url), false, `${id} ${url}`)
  for (const [id = ''] of shown)
    for (const url of ['/v1/realtime/client_secrets', '/v1/files', '/v1/api_keys', '/of/tomorrow'])
      assert.equal(isRefused(id, '/v1/embeddings', url), true, `${id} ${url}`)
  const many = Array.from({ length: 101 }, (_, i) => `/v1/threads/thread_${i}/runs`)
  assert.equal(isRefused('openai', ...many), true)
  assert.equal(isRefused('openai', ...many.slice(1)), false)
})
