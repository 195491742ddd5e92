import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tollmark } from '../support/harness.ts'
import { respond, startFake } from '../support/providers/fake.ts'
import { usedFolder } from '../support/templates.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { openCommands } from './commands.ts'

test('refused requests are listed from the local store', async (t) => {
  const env = { TOLLMARK_DATA: usedFolder(t) }
  await tollmark(['keys', 'create', '--name', 'one'], env)
  const { code, out, err } = await tollmark(['requests', 'refused', '--json'], env)
  assert.equal(code, 0, err)
  assert.deepEqual((JSON.parse(out) as { data: unknown[] }).data, [])
})

test('a search that takes long says how far back it is, and an interrupted one how to go on', async (t) => {
  const fake = await startFake(async (call) => {
    await call.body()
    const cursor = new URL(call.received.target, fake.origin).searchParams.get('cursor')
    const page = PAGES[cursor ?? '']
    if (page === undefined) return commands.interrupt() // and never answers
    await respond(200, { 'Content-Type': 'application/json' }, JSON.stringify(page))(call)
  })
  t.after(() => fake.close())
  const commands = openCommands(
    t,
    { TOLLMARK_URL: fake.origin, TOLLMARK_TOKEN: 'tmt_x' },
    temporaryFolder(t),
  )
  const list = (...more: string[]) => commands('requests', 'list', '--status', '5xx', ...more)
  const json = async (...more: string[]): Promise<Record<string, unknown>> => {
    const { code, out, err } = await list('--json', ...more)
    assert.equal(err, '')
    return { code, ...(JSON.parse(out) as Record<string, unknown>) }
  }

  const found = await list()
  assert.equal(found.code, 130)
  assert.match(found.out, /^ID .*\nreq_9 /)
  assert.equal(
    found.err,
    'Searched back to 2026-11-20 08:13:05 UTC. Ctrl+C ends the search.\n' +
      'Searched back to 2026-10-02 00:00:00 UTC. To continue, add --cursor hang\n',
  )
  assert.deepEqual(await json(), {
    code: 130,
    object: 'list',
    data: [{ id: 'req_9' }],
    next_cursor: 'hang',
    searched_to: '2026-10-02T00:00:00.000Z',
  })
  const nothing = await list('--cursor', 'req_8')
  assert.deepEqual([nothing.code, nothing.out], [130, 'No requests found so far.\n'])
  assert.deepEqual(
    [await list('--cursor', 'hang'), (await list('--cursor', 'hang', '--json')).out],
    [{ code: 130, out: '', err: '' }, ''],
    'nothing was searched',
  )

  const rest = { object: 'list', data: [{ id: 'req_1' }], next_cursor: null, searched_to: null }
  assert.deepEqual(await json('--cursor', 'last'), { code: 0, ...rest })
  const limited = await json('--cursor', 'full', '--limit', '1')
  assert.deepEqual([limited['code'], limited['next_cursor']], [0, 'last'], 'there are more')
})

/** TABLE of the pages of a search, by their cursor. */
const PAGES: Record<string, object> = {
  '': {
    data: [{ id: 'req_9' }],
    next_cursor: 'req_8',
    searched_to: '2026-11-20T08:13:05.123Z',
  },
  req_8: { data: [], next_cursor: 'hang', searched_to: '2026-10-02T00:00:00.000Z' },
  full: { data: [{ id: 'req_2' }], next_cursor: 'last', searched_to: null },
  last: { data: [{ id: 'req_1' }], next_cursor: null, searched_to: null },
}
