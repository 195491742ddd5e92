// Events that are too long to be kept, in every way that a provider can write them: read to their
// end, in linear time, and what follows is read.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CreatedIds } from '../../../server/proxy/usage/created-ids.ts'
import { LARGEST_EVENT } from '../../../server/proxy/usage/reader.ts'
import { SseReader } from '../../../server/proxy/usage/event-stream.ts'

const USAGE = 'data: {"usage":{"prompt_tokens":5,"completion_tokens":1}}'

/** TABLE of long events without their end. */
const LONG: Readonly<Record<string, string>> = {
  'one line': `data: ${'x'.repeat(LARGEST_EVENT * 2)}`,
  'many lines': 'data: x\n'.repeat(LARGEST_EVENT / 2),
  'many lines that end with CRLF': 'data: x\r\n'.repeat(LARGEST_EVENT / 2),
  'many lines that end with CR': 'data: x\r'.repeat(LARGEST_EVENT / 2),
  'a long line, and others behind it': `data: ${'x'.repeat(LARGEST_EVENT)}\nid: 1\nretry: 2`,
}

for (const [name, event] of Object.entries(LONG)) {
  for (const piece of [16, 65_536, Infinity]) {
    test(`a long event of ${name}, in pieces of ${piece} bytes`, () => {
      const reader = new SseReader(new CreatedIds({}))
      const bytes = Buffer.from(`${event}\n\n${USAGE}\n\n`)
      for (let at = 0; at < bytes.length; at += piece) reader.write(bytes.subarray(at, at + piece))
      reader.end()
      assert.deepEqual(reader.findings().at(-1)?.usage, { prompt_tokens: 5, completion_tokens: 1 })
    })
  }
}
