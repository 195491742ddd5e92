// What the AI SDK does with stored responses, files, batches and containers goes on over a restart
// for the key that began it, and for no other.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { APICallError, generateText, type ModelMessage } from 'ai'
import { respond } from '../../support/providers/fake.ts'
import { usedFolder } from '../../support/templates.ts'
import { ANTHROPIC, OPENAI, startServed, type Served } from '../support/served.ts'
import { fetchThrough, MANAGED } from './twice.ts'

globalThis.AI_SDK_LOG_WARNINGS = false

const JSON_TYPE = { 'Content-Type': 'application/json' }
const ID = '67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b'
const [RESPONSE, MESSAGE, THOUGHT, CONTAINER] = [
  `resp_${ID}`,
  `msg_${ID}`,
  `rs_${ID}`,
  'cntr_68a1b2c3d4e5f607',
]
const cited = {
  type: 'container_file_citation',
  container_id: CONTAINER,
  file_id: 'cfile_1',
  filename: 'a.png',
  start_index: 0,
  end_index: 1,
}
const RESPONDED = {
  id: RESPONSE,
  object: 'response',
  created_at: 1,
  model: 'gpt-5',
  status: 'completed',
  error: null,
  incomplete_details: null,
  usage: { input_tokens: 1, output_tokens: 1 },
  output: [
    { id: THOUGHT, type: 'reasoning', summary: [] },
    {
      id: MESSAGE,
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Hello', annotations: [cited], logprobs: [] }],
    },
  ],
}
const SAID = {
  id: 'msg_01',
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content: [{ type: 'text', text: 'Hello' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
}

const form = (purpose: string, content: string): FormData => {
  const data = new FormData()
  data.append('purpose', purpose)
  data.append('file', new Blob([content]), 'a.jsonl')
  return data
}

test('stored responses, files, batches and containers keep their owner after a restart', async (t) => {
  const data = usedFolder(t)
  const before = await startServed(t, respond(200, JSON_TYPE, '{}'), {}, data)
  const [mine, other] = [await before.key(), await before.key()]
  const openai = ({ port }: Served, { secret }: { secret: string }) =>
    createOpenAI({ apiKey: MANAGED, fetch: fetchThrough(port, secret) })('gpt-5')
  const claude = ({ port }: Served, { secret }: { secret: string }) =>
    createAnthropic({ apiKey: MANAGED, fetch: fetchThrough(port, secret) })('claude-sonnet-4-5')
  const says = (served: Served, body: object) =>
    served.fake.play(respond(200, JSON_TYPE, JSON.stringify(body)))
  const upload = async (address: string, purpose: string, id: string) => {
    says(before, { id })
    assert.equal(
      (
        await fetchThrough(before.port, mine.secret)(address, {
          method: 'POST',
          body: form(purpose, '{"custom_id":"1","body":{"model":"gpt-5","input":"x"}}\n'),
        })
      ).status,
      200,
    )
  }

  says(before, RESPONDED)
  const first = await generateText({ model: openai(before, mine), prompt: 'Hi', maxRetries: 0 })
  await upload(`${OPENAI}/v1/files`, 'user_data', 'file-68a1b2c3d4e5f607')
  await upload(`${OPENAI}/v1/files`, 'batch', 'file-78a1b2c3d4e5f607')
  await upload(`${ANTHROPIC}/v1/files`, 'x', 'file_011CNha8iCJcU1wXNR6q4V8w')
  await before.running[Symbol.asyncDispose]()

  const after = await startServed(t, respond(200, JSON_TYPE, '{}'), {}, data)
  const history: ModelMessage[] = [{ role: 'user', content: 'Hi' }, ...first.response.messages]
  /** TABLE of what goes on. */
  const goesOn: [what: string, body: object, go: (key: { secret: string }) => Promise<unknown>][] =
    [
      [
        'a turn that repeats what was said',
        RESPONDED,
        (key) =>
          generateText({
            model: openai(after, key),
            messages: [...history, { role: 'user', content: 'And?' }],
            maxRetries: 0,
          }),
      ],
      [
        'a turn that names the response',
        RESPONDED,
        (key) =>
          generateText({
            model: openai(after, key),
            prompt: 'And?',
            providerOptions: { openai: { previousResponseId: RESPONSE } },
            maxRetries: 0,
          }),
      ],
      [
        'a file of OpenAI',
        RESPONDED,
        (key) =>
          asked(after, key, `${OPENAI}/v1/responses`, {
            model: 'gpt-5',
            input: [
              { role: 'user', content: [{ type: 'input_file', file_id: 'file-68a1b2c3d4e5f607' }] },
            ],
          }),
      ],
      [
        'a batch',
        { id: 'batch_1' },
        (key) =>
          asked(after, key, `${OPENAI}/v1/batches`, {
            input_file_id: 'file-78a1b2c3d4e5f607',
            endpoint: '/v1/responses',
          }),
      ],
      [
        'a file in a container',
        {},
        (key) => asked(after, key, `${OPENAI}/v1/containers/${CONTAINER}/files/cfile_1/content`),
      ],
      [
        'a file of Anthropic',
        SAID,
        (key) =>
          asked(after, key, `${ANTHROPIC}/v1/messages`, {
            model: 'claude',
            messages: [
              {
                role: 'user',
                content: [
                  {
                    type: 'document',
                    source: { type: 'file', file_id: 'file_011CNha8iCJcU1wXNR6q4V8w' },
                  },
                ],
              },
            ],
          }),
      ],
    ]
  for (const [what, body, go] of goesOn) {
    says(after, body)
    await go(mine)
    await assert.rejects(
      go(other),
      (error: unknown) => APICallError.isInstance(error) && error.statusCode === 403,
      what,
    )
  }
  // What a key repeats inline is text, also where nobody stored it.
  says(after, SAID)
  assert.equal(
    (
      await generateText({
        model: claude(after, other),
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: 'Hello' },
          { role: 'user', content: `What was in ${RESPONSE}?` },
        ],
        maxRetries: 0,
      })
    ).text,
    'Hello',
  )
  says(after, RESPONDED)
  assert.equal(
    (
      await generateText({
        model: openai(after, other),
        messages: [...history, { role: 'user', content: 'And?' }],
        providerOptions: { openai: { store: false } },
        maxRetries: 0,
      })
    ).text,
    'Hello',
  )
})

/** A request of no SDK's. Rejects as one would. */
async function asked(
  { port }: Served,
  { secret }: { secret: string },
  url: string,
  body?: object,
): Promise<void> {
  const got = await fetchThrough(port, secret)(
    url,
    body === undefined ? {} : { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body) },
  )
  if (!got.ok)
    throw new APICallError({
      message: await got.text(),
      url,
      requestBodyValues: body,
      statusCode: got.status,
    })
}
