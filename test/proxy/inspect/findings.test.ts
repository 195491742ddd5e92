// What a body names, gathered as it is read: nothing is left to be done for each name at its end.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Findings } from '../../../server/proxy/inspect/findings.ts'
import { compilePaths } from '../../../server/proxy/inspect/places.ts'
import { createProviderTable } from '../../../server/proxy/providers/table.ts'

const RESPONSE = 'resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b'
const ITEM = 'msg_67ccd2bf17f0819081ff3bb2cf6508e60bb6a6b452d3795b'
const FILE = 'file-6F2ksmvXxt4VdoqmHRw6kL'

const { ids } = createProviderTable({}).byId('openai')!
const findings = () => new Findings(compilePaths({ required: ['model'] }), false, ids)
const named = (of: Findings) => of.mentioned.map(({ kind, id }) => `${kind} ${id}`)

test('an object named by its place comes first and is not repeated by its id', () => {
  const body = findings()
  body.text(RESPONSE)
  body.place({ kind: 'file', id: FILE })
  body.text(FILE)
  assert.deepEqual(named(body), [`file ${FILE}`, `response ${RESPONSE}`])
})

test('an item reference at the end of a body applies to earlier items', () => {
  const body = findings()
  body.text(ITEM)
  body.place({ kind: 'item', id: `${ITEM}0` })
  const items = body.mentioned
  assert.deepEqual(
    items.map(({ mayBeUnknown }) => mayBeUnknown),
    [true, true],
  )
  body.text('item_reference')
  assert.deepEqual(
    items.map(({ mayBeUnknown }) => mayBeUnknown),
    [false, false],
  )
})
