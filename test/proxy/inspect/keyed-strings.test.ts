// What stands under keys of certain names, at any depth and in any split, told as a parser sees it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { KeyedStrings } from '../../../server/proxy/inspect/keyed-strings.ts'
import { idNamesOf } from '../../../server/proxy/providers/id-names.ts'
import { createProviderTable } from '../../../server/proxy/providers/table.ts'
import { PROVIDERS } from '../../../server/proxy/providers/rows/index.ts'

const KINDS: Readonly<Record<string, string>> = { file_id: 'file', 'key "\\/': 'odd', x: 'x' }

function told(json: string, sizes: readonly number[]): string[] {
  const found: string[] = []
  const reader = new KeyedStrings({
    kindOf: (key, outer) => KINDS[key] ?? (key === 'y' ? outer : null),
    onString: (kind, text) => found.push(`${kind} ${text}`),
    onKey: (kind, key) => found.push(`${kind} ${key}`),
  })
  const bytes = Buffer.from(json)
  for (let at = 0, i = 0; at < bytes.length; at += sizes[i++ % sizes.length]!)
    reader.write(bytes.subarray(at, at + sizes[i % sizes.length]!))
  return found
}

/** The same of a parsed value. */
function under(value: unknown, kind: string | null): string[] {
  if (typeof value === 'string') return kind === null ? [] : [`${kind} ${value}`]
  if (Array.isArray(value)) return value.flatMap((one) => under(one, kind))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, one]) => [
    ...(kind === null ? [] : [`${kind} ${key}`]),
    ...under(one, Object.hasOwn(KINDS, key) ? KINDS[key]! : key === 'y' ? kind : null),
  ])
}

test('every string under a matching key is reported, in order, and no other', () => {
  const key = fc.constantFrom('file_id', 'key "\\/', 'x', 'y', 'file', '')
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.string(),
      fc.constantFrom(
        1,
        -2.5e3,
        true,
        null,
        ':',
        '{"file_id":"a"}',
        '\\',
        '"',
        'a'.repeat(60),
        `${'a'.repeat(47)}\\"${'\\'.repeat(60)}"`,
        `${'"'.repeat(50)}b`,
      ),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(key, tie('value'), { maxKeys: 4 }),
    ),
  }))
  fc.assert(
    fc.property(
      value,
      fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 40, max: 200 })), {
        minLength: 1,
        maxLength: 4,
      }),
      fc.constantFrom(undefined, 1, '\t'),
      (body, sizes, space) => {
        const parsed: unknown = JSON.parse(JSON.stringify(body))
        const size = sizes[0]!
        assert.deepEqual(told(JSON.stringify(parsed, null, space), [size]), under(parsed, null))
      },
    ),
  )
})

test('invalid or endlessly nested JSON is handled', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...'{}[]:,"\\x 1') }),
      (text) => void told(text, [3]),
    ),
  )
  assert.deepEqual(told(`${'['.repeat(30_000)}${']'.repeat(30_000)}{"x":"a"}`, [4_096]), ['x a'])
  assert.deepEqual(told(`{"x":"${'a'.repeat(3_000)}","x":"b"}`, [1_000]), ['x b'])
})

test('every field name in the rows that holds ids is recognised in any spelling, and ordinary field names are not', () => {
  const table = createProviderTable({})
  for (const { id, endpoints } of PROVIDERS) {
    const names = idNamesOf(endpoints, table.byId(id)!.endpoints.kinds)
    for (const name of [
      'id',
      'name',
      'model',
      'model_id',
      'user_id',
      'request_id',
      'session_id',
      'message_id',
      'trace',
      'text',
      'x'.repeat(100),
    ])
      assert.equal(names.kindOf(name), null, `${id} ${name}`)
    for (const name of ['file_id', 'fileId', 'File-IDs', 'file_ids[]'])
      if (table.byId(id)!.endpoints.kinds.includes('file'))
        assert.equal(names.kindOf(name), 'file', `${id} ${name}`)
  }
  /** TABLE of names, and the kind of object that they give. */
  const cases: [id: string, name: string, kind: string | null][] = [
    ['cohere', 'input_dataset_id', 'dataset'],
    ['openai', 'trainingFile', 'file'],
    ['openai', 'containers', null],
    ['openai', 'container', 'container'],
    ['mistral', 'connector_id', 'connector'],
    ['openai', 'previous_response_id', 'response'],
    ['together', 'request_id', null],
    ['mistral', 'agent_id', 'agent'],
    ['anthropic', 'memory-store-id', 'memory_store'],
  ]
  for (const [id, name, kind] of cases)
    assert.equal(
      idNamesOf(
        PROVIDERS.find((row) => row.id === id)!.endpoints,
        table.byId(id)!.endpoints.kinds,
      ).kindOf(name),
      kind,
      `${id} ${name}`,
    )
})
