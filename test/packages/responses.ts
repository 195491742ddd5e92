// What providers send back to the AI SDK's calls, as one script: each response tells in its text
// what it was asked.
import { BINARY } from '../support/providers/scripts.ts'
import { chunk, head, type Call, type Script } from '../support/providers/fake.ts'

const GEMINI = 'https://generativelanguage.googleapis.com'
/** Where there is no provider. */
export const ELSEWHERE = 'https://elsewhere.test'
/** A video, a picture, a sound: the same bytes for all of them. */
export const MEDIA = BINARY
const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), BINARY.subarray(0, 100)])

interface Asked {
  path: string
  body: Record<string, unknown>
  text: string
}

type ProviderResponse =
  | { json: unknown }
  | { events: string[] }
  | { bytes: Buffer; type: string }
  | { location: string }
  | { upload: string }

const usage = { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 }
const candidate = (parts: unknown[]) => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
  usageMetadata: usage,
})
const inline = (mimeType: string, data: Buffer) => ({
  inlineData: { mimeType, data: data.toString('base64') },
})
const event = (data: unknown, name?: string) =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`

function gemini({ text }: Asked): unknown {
  if (text.includes('functionResponse')) return candidate([{ text: 'It is 21 degrees.' }])
  if (text.includes('functionDeclarations'))
    return candidate([{ functionCall: { name: 'weather', args: { city: 'Ulm' } } }])
  if (text.includes('"AUDIO"')) return candidate([inline('audio/L16;codec=pcm;rate=24000', MEDIA)])
  if (text.includes('"IMAGE"')) return candidate([inline('image/png', PNG)])
  if (text.includes('application/json')) return candidate([{ text: '{"city":"Ulm","degrees":21}' }])
  return candidate([{ text: 'Hello from Gemini' }])
}

const video = (polls: number, uri: string) =>
  polls === 0
    ? { name: 'op1' }
    : {
        name: 'op1',
        done: true,
        response: { generateVideoResponse: { generatedSamples: [{ video: { uri } }] } },
      }
const chat = (content: string) => ({
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
})
const delta = (content: string, finish: string | null = null) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: finish }],
})

/** How often the video was asked for, by operation: the first response is that it is not done. */
const POLLED = new WeakMap<Script, number>()

/** TABLE of calls: method and path, and the response. The first row that fits counts. */
const RESPONSES: [call: RegExp, response: (asked: Asked, polls: number) => ProviderResponse][] = [
  [
    /^POST .*:streamGenerateContent/,
    (asked) => ({
      events: [
        event(candidate([{ text: 'Hello' }])),
        event(
          asked.text.includes('application/json')
            ? gemini(asked)
            : candidate([{ text: ' from Gemini' }]),
        ),
      ].slice(asked.text.includes('application/json') ? 1 : 0),
    }),
  ],
  [/^POST .*:generateContent/, (asked) => ({ json: gemini(asked) })],
  [
    /^POST .*:batchEmbedContents/,
    ({ body }) => ({
      json: { embeddings: (body['requests'] as unknown[]).map((_, i) => ({ values: [i, 0.5] })) },
    }),
  ],
  [/^POST .*:embedContent/, () => ({ json: { embedding: { values: [0, 0.5] } } })],
  [
    /^POST .*embedding.*:predict$/,
    ({ body }) => ({
      json: {
        predictions: (body['instances'] as unknown[]).map((_, i) => ({
          embeddings: { values: [i, 0.5], statistics: { token_count: 1 } },
        })),
      },
    }),
  ],
  [
    /^POST .*:predict$/,
    () => ({
      json: {
        predictions: [{ mimeType: 'image/png', bytesBase64Encoded: PNG.toString('base64') }],
      },
    }),
  ],
  [
    /^POST .*:predictLongRunning$/,
    ({ path }) => ({
      json: { name: `${/(?:models|publishers)\/.*(?=:)/.exec(path)?.[0]}/operations/op1` },
    }),
  ],
  [
    /^POST .*:fetchPredictOperation$/,
    (_, polls) => ({
      json:
        polls === 0
          ? { name: 'op1' }
          : {
              name: 'op1',
              done: true,
              response: {
                videos: [{ bytesBase64Encoded: MEDIA.toString('base64'), mimeType: 'video/mp4' }],
              },
            },
    }),
  ],
  [
    /^GET .*\/veo-elsewhere\/operations\/op1$/,
    (_, polls) => ({ json: video(polls, `${ELSEWHERE}/video1.mp4`) }),
  ],
  [
    /^GET .*\/operations\/op1$/,
    (_, polls) => ({ json: video(polls, `${GEMINI}/v1beta/files/video1:download?alt=media`) }),
  ],
  [
    /^GET \/v1beta\/files\/video1:download/,
    () => ({ location: `${GEMINI}/download/v1beta/files/video1:download?alt=media` }),
  ],
  [/^GET \/download\/v1beta\/files\/video1:download/, () => ({ bytes: MEDIA, type: 'video/mp4' })],
  [
    /^POST \/upload\/v1beta\/files\?upload_id=/,
    ({ text }) => ({
      json: {
        file: {
          name: 'files/up1',
          mimeType: 'text/plain',
          uri: `${GEMINI}/v1beta/files/up1`,
          state: 'ACTIVE',
          displayName: text,
          sizeBytes: String(text.length),
        },
      },
    }),
  ],
  [
    /^POST \/upload\/v1beta\/files/,
    () => ({ upload: `${GEMINI}/upload/v1beta/files?upload_id=ab%2Fc&upload_protocol=resumable` }),
  ],
  [
    /^POST \/v1\/responses/,
    (asked) => ({
      json: {
        id: 'r1',
        object: 'response',
        created_at: 1,
        model: 'm',
        status: 'completed',
        output: [
          {
            type: 'message',
            id: 'm1',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: `Hello from ${asked.path}`, annotations: [] }],
          },
        ],
        usage: { input_tokens: 3, output_tokens: 2 },
      },
    }),
  ],
  [/^POST \/v1\/audio\/speech/, () => ({ bytes: MEDIA, type: 'audio/mpeg' })],
  [
    /^POST \/v1\/audio\/transcriptions/,
    () => ({ json: { text: 'Hello', language: 'english', duration: 1, segments: [] } }),
  ],
  [
    /^POST \/v1\/messages/,
    ({ body }) =>
      body['stream'] === true
        ? {
            events: [
              event(
                {
                  type: 'message_start',
                  message: {
                    id: 'm1',
                    type: 'message',
                    role: 'assistant',
                    model: 'm',
                    content: [],
                    stop_reason: null,
                    stop_sequence: null,
                    usage: { input_tokens: 3, output_tokens: 1 },
                  },
                },
                'message_start',
              ),
              event(
                {
                  type: 'content_block_start',
                  index: 0,
                  content_block: { type: 'text', text: '' },
                },
                'content_block_start',
              ),
              event(
                {
                  type: 'content_block_delta',
                  index: 0,
                  delta: { type: 'text_delta', text: 'Hello' },
                },
                'content_block_delta',
              ),
              event({ type: 'content_block_stop', index: 0 }, 'content_block_stop'),
              event(
                {
                  type: 'message_delta',
                  delta: { stop_reason: 'end_turn', stop_sequence: null },
                  usage: { output_tokens: 2 },
                },
                'message_delta',
              ),
              event({ type: 'message_stop' }, 'message_stop'),
            ],
          }
        : {
            json: {
              id: 'm1',
              type: 'message',
              role: 'assistant',
              model: 'm',
              content: [{ type: 'text', text: 'Hello' }],
              stop_reason: 'end_turn',
              stop_sequence: null,
              usage: { input_tokens: 3, output_tokens: 2 },
            },
          },
  ],
  [
    /^POST \/v2\/chat/,
    ({ body }) =>
      body['stream'] === true
        ? {
            events: [
              event({ type: 'message-start', id: 'c1' }),
              event({
                type: 'content-start',
                index: 0,
                delta: { message: { content: { type: 'text', text: '' } } },
              }),
              event({
                type: 'content-delta',
                index: 0,
                delta: { message: { content: { text: 'Hello' } } },
              }),
              event({ type: 'content-end', index: 0 }),
              event({
                type: 'message-end',
                delta: {
                  finish_reason: 'COMPLETE',
                  usage: { tokens: { input_tokens: 3, output_tokens: 2 } },
                },
              }),
            ],
          }
        : {
            json: {
              generation_id: 'c1',
              message: { role: 'assistant', content: [{ type: 'text', text: 'Hello' }] },
              finish_reason: 'COMPLETE',
              usage: {
                billed_units: { input_tokens: 3, output_tokens: 2 },
                tokens: { input_tokens: 3, output_tokens: 2 },
              },
            },
          },
  ],
  [
    /^POST .*\/chat\/completions/,
    ({ body }) =>
      body['stream'] === true
        ? { events: [event(delta('Hel')), event(delta('lo', 'stop')), 'data: [DONE]\n\n'] }
        : { json: chat('Hello') },
  ],
]

/** Plays all providers. A path that no row knows gets 404. */
export function providers(): Script {
  const script: Script = async (call) => {
    const bytes = await call.body()
    const { method, target } = call.received
    const asked: Asked = { path: target, text: bytes.toString('utf8'), body: json(bytes) }
    const row = RESPONSES.find(([fits]) => fits.test(`${method} ${target}`))
    if (!row)
      return plain(
        call,
        404,
        { 'Content-Type': 'application/json' },
        Buffer.from(
          JSON.stringify({
            error: {
              code: 404,
              message: `no response to ${method} ${target}`,
              status: 'NOT_FOUND',
            },
          }),
        ),
      )
    const polls = POLLED.get(script) ?? 0
    if (/op1$|fetchPredict/.test(target)) POLLED.set(script, (polls + 1) % 2)
    await give(call, row[1](asked, polls))
  }
  return script
}

async function give(call: Call, response: ProviderResponse): Promise<void> {
  if ('json' in response)
    return plain(
      call,
      200,
      { 'Content-Type': 'application/json' },
      Buffer.from(JSON.stringify(response.json)),
    )
  if ('bytes' in response)
    return plain(call, 200, { 'Content-Type': response.type }, response.bytes)
  if ('location' in response)
    return plain(call, 302, { Location: response.location }, Buffer.alloc(0))
  if ('upload' in response)
    return plain(
      call,
      200,
      { 'X-Goog-Upload-URL': response.upload, 'X-Goog-Upload-Status': 'active' },
      Buffer.alloc(0),
    )
  call.write(head(200, { 'Content-Type': 'text/event-stream', 'Transfer-Encoding': 'chunked' }))
  for (const one of response.events) {
    call.write(chunk(one))
    await call.pause(1)
  }
  call.write('0\r\n\r\n')
}

function plain(call: Call, status: number, headers: Record<string, string>, body: Buffer): void {
  call.write(head(status, { ...headers, 'Content-Length': String(body.length) }))
  call.write(body)
}

function json(bytes: Buffer): Record<string, unknown> {
  try {
    return JSON.parse(bytes.toString('utf8')) as Record<string, unknown>
  } catch {
    return {}
  }
}
