// An id that is all of a message is what somebody said: nobody's may stand there. Another key's may
// not, and nobody's may stand nowhere else.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { withProse } from '../../../server/proxy/inspect/prose.ts'
import type { ObjectRef } from '../../../server/proxy/providers/object-ref.ts'
import { createProviderTable } from '../../../server/proxy/providers/table.ts'

const ids = createProviderTable().byId('openai')!.ids!
const FILE = 'file-68a1b2c3d4e5f60718293a4b'
const REF: ObjectRef = { kind: 'file', id: FILE }
const PLACES = ['messages[].content', 'messages[].content[].text', 'tool.*']
const isProse = (body: string): boolean =>
  withProse([Buffer.from(body)], PLACES, [REF], ids)[0]!.mayBeUnknown === true

/** TABLE of bodies, and whether the id in them is prose. */
const BODIES: [body: string, prose: boolean][] = [
  [`{"messages":[{"content":"${FILE}"}]}`, true],
  [
    `{"messages":[{"content":" ${FILE}\\n"},{"content":[{"text":"${FILE}"},{"text":"x"}]}],"tool":{"a":"${FILE.replace('-', '\\u002d')}"}}`,
    true,
  ],
  [`{"messages":[{"content":"${FILE}","file_id":"${FILE}"}]}`, false],
  [`{"messages":[{"content":"${FILE}","content":"x"}]}`, false],
  [`{"messages":[{"content":"x","content":"${FILE}"}]}`, true],
  [`{"messages":[{"file_id":"${FILE}","content":"${FILE}","file_id":"x"}]}`, false],
  [`{"messages":[{"content":"files/${FILE}"}],"x":"${FILE.replace('f', '\\u0066')}"}`, false],
  [`{"messages":[{"content":"${FILE}","${FILE}":1}]}`, false],
  [`{"Messages":[{"content":"${FILE}"}]}`, false],
  [`{"messages":{"content":"${FILE}"}}`, false],
  [`{"messages":[{"content":["${FILE}"]}]}`, false],
  [`{"messages":[{"content":{"text":"${FILE}"}}]}`, false],
  [`{"messages":[{"content":"${FILE}"}],}`, false],
  [`\ufeff{"messages":[{"content":"${FILE}"}]}`, false],
  [`{"messages":[{"content":"${FILE}"}],"x":"${'x'.repeat(70_000)}"}`, false],
]

test('an id is prose if every string that names it is in a place of prose', () => {
  for (const [body, prose] of BODIES) assert.equal(isProse(body), prose, body.slice(0, 200))
  assert.equal(
    withProse(
      [Buffer.from(`{"messages":[{"content":"${FILE}`), Buffer.from('"}]}')],
      PLACES,
      [REF],
      ids,
    )[0]!.mayBeUnknown,
    true,
  )
  assert.equal(withProse([Buffer.from(BODIES[0]![0])], [], [REF], ids)[0]!.mayBeUnknown, undefined)
  assert.equal(
    withProse(
      [Buffer.from([...Buffer.from(BODIES[0]![0]).subarray(0, -3), 0xff, 0x22, 0x7d, 0x5d, 0x7d])],
      PLACES,
      [REF],
      ids,
    )[0]!.mayBeUnknown,
    undefined,
  )
})

test('an id that is also anywhere else is not prose', () => {
  const text = fc.constantFrom(FILE, ` ${FILE}`, `${FILE}/`, 'x', '', '\\', '"')
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      text,
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('messages', 'content', 'text', 'tool', FILE), tie('value'), {
        maxKeys: 3,
      }),
    ),
  })).value
  fc.assert(
    fc.property(value, value, (messages, rest) => {
      const body = { messages, rest: [rest, FILE] }
      assert.equal(isProse(JSON.stringify(body)), false)
    }),
  )
})
