// Each snippet that the dashboard shows is run as a person would run it: in a shell, in Node, and,
// as far as Python's own parser goes, in Python.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import type { Model, Provider } from '../../../dashboard/src/api/shapes.ts'
import { choicesFor, snippetsOf } from '../../../dashboard/src/snippets.ts'
import { PROVIDER_CREDENTIALS } from '../../../server/config/provider-credentials.ts'
import { PROVIDERS } from '../../../server/proxy/providers/rows/index.ts'
import { NODE_FLAGS } from '../../support/node.ts'
import { providers } from '../../packages/responses.ts'
import { eventStream } from '../../proxy/sdk/wire.ts'
import { chunk, head, type Script } from '../../support/providers/fake.ts'
import { temporaryFolder } from '../../support/temporary.ts'
import { openSite, type Site } from './seeded.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../../..')
const SEEN: Model[] = [{ id: 'house-7b', provider: 'acme' }]

const RESPONSE = {
  id: 'r1',
  object: 'response',
  created_at: 1,
  model: 'm',
  output: [],
  usage: { input_tokens: 3, output_tokens: 2 },
}
const ITEM = { type: 'message', id: 'm1', role: 'assistant', status: 'completed' }
const said = (text: string) => ({
  ...ITEM,
  content: [{ type: 'output_text', text, annotations: [] }],
})
/** A stream of OpenAI's responses. */
const RESPONSES = [
  { type: 'response.created', response: { ...RESPONSE, status: 'in_progress' } },
  { type: 'response.output_item.added', output_index: 0, item: { ...ITEM, content: [] } },
  {
    type: 'response.output_text.delta',
    item_id: 'm1',
    output_index: 0,
    content_index: 0,
    delta: 'Hello',
  },
  { type: 'response.output_item.done', output_index: 0, item: said('Hello') },
  {
    type: 'response.completed',
    response: { ...RESPONSE, status: 'completed', output: [said('Hello')] },
  },
]
const CONVERSE = {
  output: { message: { role: 'assistant', content: [{ text: 'Hello' }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
  metrics: { latencyMs: 1 },
}
const CONVERSE_EVENTS = [
  ['messageStart', { role: 'assistant' }],
  ['contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hello' } }],
  ['contentBlockStop', { contentBlockIndex: 0 }],
  ['messageStop', { stopReason: 'end_turn' }],
  ['metadata', { usage: CONVERSE.usage, metrics: CONVERSE.metrics }],
] as const

/** All providers, each in its own dialect. */
function everybody(): Script {
  const others = providers()
  return async (call) => {
    const { target } = call.received
    const send = (type: string, pieces: readonly (string | Buffer)[]): void => {
      call.write(head(200, { 'Content-Type': type, 'Transfer-Encoding': 'chunked' }))
      for (const piece of pieces) call.write(chunk(piece))
      call.write('0\r\n\r\n')
    }
    if (target.endsWith('/converse')) return send('application/json', [JSON.stringify(CONVERSE)])
    if (target.endsWith('/converse-stream')) {
      const { pieces = [] } = eventStream(CONVERSE_EVENTS)
      return send('application/vnd.amazon.eventstream', pieces)
    }
    if (!/\/responses(?:\?|$)/.test(target)) return others(call)
    if (!/"stream":true/.test((await call.body()).toString())) {
      return send('application/json', [
        JSON.stringify({ ...RESPONSE, status: 'completed', output: [said('Hello')] }),
      ])
    }
    return send(
      'text/event-stream',
      RESPONSES.map((event) => `data: ${JSON.stringify(event)}\n\n`),
    )
  }
}

/**
 * A server that reaches every provider of the table, and one of the operator's own, at the fake.
 */
const reaching = (origin: string): Record<string, string> => ({
  AZURE_RESOURCE_NAME: 'res',
  AWS_REGION: 'us-east-1',
  ...Object.fromEntries(
    PROVIDERS.flatMap(({ id }) => [
      [`TOLLMARK_UPSTREAM_${id.toUpperCase().replaceAll('-', '_')}`, origin],
      [PROVIDER_CREDENTIALS[id], 'k'],
    ]),
  ),
})

interface Ready {
  /** What the snippet is for, and its language: a file name without its ending. */
  name: string
  title: string
  code: string
}

/** The snippets of every provider, as the dashboard shows them for a new key. */
async function allSnippets(site: Site): Promise<Ready[]> {
  const cookie = await site.setUp()
  const acme = { id: 'acme', origin: 'https://llm.example.com', dial: site.fake.origin }
  assert.equal((await site.api(cookie, 'POST', '/api/v1/providers', acme)).status, 201)
  const credential = { provider: 'acme', name: 'default', secret: 'k' }
  assert.equal((await site.api(cookie, 'POST', '/api/v1/credentials', credential)).status, 201)
  const made = await site.api(cookie, 'POST', '/api/v1/keys', { name: 'all' })
  const { secret } = (await made.json()) as { secret: string }
  const { data } = (await (await site.api(cookie, 'GET', '/api/v1/providers')).json()) as {
    data: Provider[]
  }
  return data.flatMap(({ id }) => {
    const [choice] = choicesFor({ models: null, providers: [id] }, data, SEEN)
    // Nothing but chats has an example.
    if (choice === undefined) return []
    assert.ok(choice.provider.ready, id)
    return [false, true].flatMap((streaming) =>
      snippetsOf(choice, { secret, streaming, origin: site.url, page: null }).map(
        ({ title, code }) => ({
          name: `${id}${streaming ? ', streaming' : ''}: ${title}`,
          title,
          code,
        }),
      ),
    )
  })
}

/** What each snippet printed, by a line that stands before it. */
const printed = (text: string): [name: string, text: string][] =>
  text
    .split('\n=== ')
    .slice(1)
    .map((part) => {
      const end = part.indexOf('\n')
      return [part.slice(0, end), part.slice(end + 1)]
    })

test('every snippet runs, for every provider, streaming or not', async (t) => {
  const folder = temporaryFolder(t)
  const site = await openSite(temporaryFolder(t), reaching)
  t.after(() => site[Symbol.asyncDispose]())
  site.fake.play(everybody())
  const snippets = await allSnippets(site)
  const inNode = snippets.filter(({ title }) => title !== 'curl' && title !== 'Python')
  const of = (title: string) => snippets.filter((one) => one.title === title)
  const script = (lines: string[]): string => lines.join('\n')

  await t.test('in a shell', async () => {
    const { stdout } = await run('bash', [
      '-c',
      script(
        of('curl').map(
          ({ name, code }) => `echo; echo '=== ${name}'\n${code} -sS --fail-with-body`,
        ),
      ),
    ])
    const responses = printed(stdout)
    assert.equal(responses.length, of('curl').length)
    for (const [name, text] of responses) assert.match(text, /Hello|"Hel"/, name)
  })

  await t.test('in Node', async () => {
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    for (const [nth, { code }] of inNode.entries())
      writeFileSync(join(folder, `${nth}.ts`), `${code}\nexport {}\n`)
    const all = inNode.map(
      ({ name }, nth) =>
        `console.log(${JSON.stringify(`\n=== ${name}`)}); await import('./${nth}.ts').catch((error) => console.log('threw', error))`,
    )
    writeFileSync(join(folder, 'all.mjs'), script(all))
    const { stdout } = await run(process.execPath, [...NODE_FLAGS, join(folder, 'all.mjs')])
    const responses = printed(stdout)
    assert.equal(responses.length, inNode.length)
    for (const [name, text] of responses) assert.match(text.trim(), /^Hello(?: from .*)?$/, name)
  })

  await t.test('Python can parse them', async () => {
    const check = 'import ast, json, sys\nfor code in json.loads(sys.argv[1]): ast.parse(code)'
    await run('python3', ['-c', check, JSON.stringify(of('Python').map(({ code }) => code))])
  })
})
