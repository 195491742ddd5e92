// Every method of the AI SDK on the client packages as they are published, in both majors, through
// the real server.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { createCohere } from '@ai-sdk/cohere'
import { createDeepSeek } from '@ai-sdk/deepseek'
import { createGroq } from '@ai-sdk/groq'
import { createMistral } from '@ai-sdk/mistral'
import type { LanguageModel } from 'ai'
import { z } from 'zod'
import { headerOf } from '../support/providers/fake.ts'
import { ELSEWHERE, MEDIA, providers } from './responses.ts'
import { load, MAJORS, makeProject, type Loaded, type Major } from './project.ts'
import { startProxied, UPSTREAM_SECRET, type Proxied } from './proxied.ts'

interface Rig extends Loaded {
  proxied: Proxied
  major: Major
  apiKey: string
  google: ReturnType<Loaded['genai']['createProxyGenai']>
  vertex: ReturnType<Loaded['express']['createProxyExpress']>
}

/**
 * Nothing of a provider's, and no placeholder, goes to the proxy; nothing of the proxy's goes to a
 * provider, or comes back.
 */
function assertNoLeaks({ proxied, apiKey }: Rig): void {
  const wire = proxied.wire()
  assert.doesNotMatch(wire, /proxy-managed|x-goog-api-key|x-api-key/i)
  assert.ok(wire.includes(`Authorization: Bearer ${apiKey}`))
  for (const { target, rawHeaders, body } of proxied.fake.requests) {
    const seen = `${target}\n${rawHeaders.join('\n')}\n${body.toString('latin1')}`
    assert.doesNotMatch(seen, /proxy-managed|tmk_|x-proxy-context-key/i)
    const credentials = ['authorization', 'x-goog-api-key', 'x-api-key']
      .map((name) => headerOf(rawHeaders, name))
      .filter((value) => value !== null)
    assert.deepEqual(
      credentials.map((value) => value.replace('Bearer ', '')),
      [UPSTREAM_SECRET],
      target,
    )
  }
}

const City = z.object({ city: z.string(), degrees: z.number() })

async function text({ ai }: Rig, model: LanguageModel): Promise<void> {
  const { text, usage } = await ai.generateText({ model, prompt: 'Hello', maxRetries: 0 })
  assert.match(text, /^Hello/)
  assert.deepEqual([usage.inputTokens, usage.outputTokens], [3, 2])
}

async function streaming({ ai }: Rig, model: LanguageModel): Promise<void> {
  let text = ''
  for await (const piece of ai.streamText({ model, prompt: 'Hello', maxRetries: 0 }).textStream)
    text += piece
  assert.match(text, /^Hello/)
}

async function objects({ ai }: Rig, model: LanguageModel): Promise<void> {
  const { object } = await ai.generateObject({
    model,
    schema: City,
    prompt: 'How warm is it?',
    maxRetries: 0,
  })
  assert.deepEqual(object, { city: 'Ulm', degrees: 21 })
  const streamed = ai.streamObject({
    model,
    schema: City,
    prompt: 'How warm is it?',
    maxRetries: 0,
  })
  for await (const _ of streamed.partialObjectStream);
  assert.deepEqual(await streamed.object, { city: 'Ulm', degrees: 21 })
}

async function tools({ ai }: Rig, model: LanguageModel): Promise<void> {
  const asked: string[] = []
  const weather = ai.tool({
    description: 'The weather',
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => {
      asked.push(city)
      return { degrees: 21 }
    },
  })
  const { text, steps } = await ai.generateText({
    model,
    prompt: 'How warm is it?',
    tools: { weather },
    stopWhen: ai.stepCountIs(3),
    maxRetries: 0,
  })
  assert.deepEqual([asked, text, steps.length], [['Ulm'], 'It is 21 degrees.', 2])
}

async function embeddings(
  { ai }: Rig,
  model: Parameters<Loaded['ai']['embedMany']>[0]['model'],
): Promise<void> {
  const { embeddings } = await ai.embedMany({ model, values: ['a', 'b'], maxRetries: 0 })
  assert.deepEqual(embeddings, [
    [0, 0.5],
    [1, 0.5],
  ])
  const { embedding } = await ai.embed({ model, value: 'a', maxRetries: 0 })
  assert.deepEqual(embedding, [0, 0.5])
}

async function images(
  { ai }: Rig,
  model: Parameters<Loaded['ai']['generateImage']>[0]['model'],
): Promise<void> {
  const { image } = await ai.generateImage({ model, prompt: 'A cat', maxRetries: 0 })
  assert.deepEqual([image.mediaType, image.uint8Array.length], ['image/png', 108])
}

async function videos(
  { ai, major }: Rig,
  model: Parameters<Loaded['ai']['experimental_generateVideo']>[0]['model'],
  name: string,
): Promise<void> {
  const poll = major === 7 ? { poll: { intervalMs: 1 } } : {}
  const { video } = await ai.experimental_generateVideo({
    model,
    prompt: 'A cat',
    maxRetries: 0,
    providerOptions: { [name]: { pollIntervalMs: 1 } },
    ...poll,
  })
  assert.equal(video.mediaType, 'video/mp4')
  assert.ok(MEDIA.equals(video.uint8Array))
}

/** TABLE of methods: in which majors the provider has it, and how it is used. */
const METHODS: { name: string; majors?: Major[]; use: (rig: Rig) => Promise<void> }[] = [
  { name: 'text with Gemini', use: (rig) => text(rig, rig.google('gemini-2.5-flash')) },
  {
    name: 'streaming with Gemini',
    use: (rig) => streaming(rig, rig.google.languageModel('gemini-2.5-flash')),
  },
  { name: 'objects with Gemini', use: (rig) => objects(rig, rig.google.chat('gemini-2.5-flash')) },
  { name: 'tools with Gemini', use: (rig) => tools(rig, rig.google('gemini-2.5-flash')) },
  {
    name: 'embeddings with Gemini',
    use: (rig) => embeddings(rig, rig.google.embedding('gemini-embedding-001')),
  },
  {
    name: 'images with Gemini',
    use: (rig) => images(rig, rig.google.image('gemini-2.5-flash-image')),
  },
  {
    name: 'video with Gemini, and its download',
    use: (rig) => videos(rig, rig.google.video('veo-3.1-generate-preview'), 'google'),
  },
  {
    name: 'video with Gemini by its other name',
    use: (rig) => videos(rig, rig.google.videoModel('veo-3.1-generate-preview'), 'google'),
  },
  // AI SDK 6 fetches it too, with a fetch that no test can stand in for.
  {
    name: 'video with Gemini that lies elsewhere',
    majors: [7],
    use: (rig) =>
      besideTheProxy('video/mp4', MEDIA, () =>
        videos(rig, rig.google.video('veo-elsewhere'), 'google'),
      ),
  },
  {
    name: 'speech with Gemini',
    majors: [7],
    use: async ({ ai, google }) => {
      const { audio } = await ai.generateSpeech({
        model: google.speech('gemini-2.5-flash-preview-tts'),
        text: 'Hello',
        voice: 'Kore',
        maxRetries: 0,
      })
      assert.ok(audio.uint8Array.length >= MEDIA.length)
    },
  },
  {
    name: 'files with Gemini',
    majors: [7],
    use: async ({ ai, google, proxied }) => {
      const file = await ai.uploadFile({
        api: google.files(),
        data: { type: 'text', text: 'What is in the file' },
        mediaType: 'text/plain',
      })
      assert.equal(
        file.providerReference['google'],
        'https://generativelanguage.googleapis.com/v1beta/files/up1',
      )
      const [started, uploaded] = proxied.fake.requests.slice(-2)
      assert.equal(headerOf(started!.rawHeaders, 'x-goog-upload-command'), 'start')
      assert.deepEqual(
        [uploaded!.target, uploaded!.body.toString()],
        ['/upload/v1beta/files?upload_id=ab%2Fc&upload_protocol=resumable', 'What is in the file'],
      )
    },
  },
  { name: 'text with Vertex express', use: (rig) => text(rig, rig.vertex('gemini-2.5-flash')) },
  {
    name: 'streaming with Vertex express',
    use: (rig) => streaming(rig, rig.vertex('gemini-2.5-flash')),
  },
  {
    name: 'objects with Vertex express',
    use: (rig) => objects(rig, rig.vertex('gemini-2.5-flash')),
  },
  { name: 'tools with Vertex express', use: (rig) => tools(rig, rig.vertex('gemini-2.5-flash')) },
  {
    name: 'embeddings with Vertex express',
    use: (rig) => embeddings(rig, rig.vertex.embeddingModel('text-embedding-005')),
  },
  {
    name: 'images with Vertex express',
    use: (rig) => images(rig, rig.vertex.image('gemini-2.5-flash-image')),
  },
  {
    name: 'video with Vertex express',
    use: (rig) => videos(rig, rig.vertex.video('veo-3.1-generate-001'), 'vertex'),
  },
  {
    name: "files that a tool's result names, with Vertex express",
    majors: [7],
    use: toolResultFiles,
  },
  {
    name: 'speech with Vertex express',
    majors: [7],
    use: async ({ ai, vertex }) => {
      const { audio } = await ai.generateSpeech({
        model: vertex.speech('gemini-2.5-flash-tts'),
        text: 'Hello',
        voice: 'Kore',
        maxRetries: 0,
      })
      assert.ok(audio.uint8Array.length >= MEDIA.length)
    },
  },
]

/** Makes a call that fetches something from elsewhere, once, and shows nothing of ours there. */
async function besideTheProxy(
  type: string,
  bytes: Buffer,
  call: () => Promise<unknown>,
): Promise<void> {
  const before = globalThis.fetch
  const asked: string[] = []
  globalThis.fetch = async (input, init) => {
    if (!String(input).startsWith(`${ELSEWHERE}/`)) return before(input, init)
    asked.push(`${String(input)} ${JSON.stringify([...new Headers(init?.headers)])}`)
    return new Response(bytes, { headers: { 'Content-Type': type } })
  }
  try {
    await call()
  } finally {
    globalThis.fetch = before
  }
  assert.equal(asked.length, 1)
  assert.doesNotMatch(asked[0]!, /tmk_|proxy-managed|authorization/i)
}

/**
 * An agent's tool has made a picture and names its address: the provider fetches that from where it
 * is, and puts it into the request.
 */
async function toolResultFiles({ ai, vertex, proxied }: Rig): Promise<void> {
  const file = {
    type: 'file',
    data: { type: 'url', url: new URL(`${ELSEWHERE}/a.png`) },
    mediaType: 'image/png',
  } as const
  await besideTheProxy('image/png', PICTURE, () =>
    ai.generateText({
      model: vertex('gemini-3-pro-preview'),
      maxRetries: 0,
      messages: [
        { role: 'user', content: 'Draw' },
        {
          role: 'assistant',
          content: [{ type: 'tool-call', toolCallId: 't1', toolName: 'draw', input: {} }],
        },
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: 't1',
              toolName: 'draw',
              output: { type: 'content', value: [file] },
            },
          ],
        },
      ],
    }),
  )
  assert.ok(proxied.fake.requests[0]?.body.includes(PICTURE.toString('base64')))
}

const PICTURE = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), MEDIA.subarray(0, 30)])

interface Vendor {
  name: string
  majors: Major[]
  model: (rig: Rig, settings: { apiKey: string; fetch: typeof fetch }) => LanguageModel
}

/** TABLE of further providers that take the fetch of the core package. */
const VENDORS: Vendor[] = [
  {
    name: 'OpenAI',
    majors: [6, 7],
    model: ({ openai }, settings) => openai.createOpenAI(settings).chat('gpt-5'),
  },
  {
    name: 'Anthropic',
    majors: [6, 7],
    model: ({ anthropic }, settings) => anthropic.createAnthropic(settings)('claude-sonnet-5'),
  },
  {
    name: 'Mistral',
    majors: [7],
    model: (_, settings) => createMistral(settings)('mistral-large-latest'),
  },
  {
    name: 'Groq',
    majors: [7],
    model: (_, settings) => createGroq(settings)('llama-3.3-70b-versatile'),
  },
  {
    name: 'Cohere',
    majors: [7],
    model: (_, settings) => createCohere(settings)('command-a-03-2025'),
  },
  {
    name: 'DeepSeek',
    majors: [7],
    model: (_, settings) => createDeepSeek(settings)('deepseek-chat'),
  },
]

async function startRig(t: TestContext, major: Major): Promise<Rig> {
  const proxied = await startProxied(t, providers())
  const loaded = await load(await makeProject(t, major))
  const apiKey = await proxied.key()
  const { proxyUrl } = proxied
  return {
    ...loaded,
    proxied,
    major,
    apiKey,
    google: loaded.genai.createProxyGenai({ apiKey, proxyUrl }),
    vertex: loaded.express.createProxyExpress({ apiKey, proxyUrl, contextKey: 'chat-1' }),
  }
}

for (const major of MAJORS) {
  test(`AI SDK ${major}`, async (t) => {
    const rig = await startRig(t, major)
    for (const { name, majors = MAJORS, use } of METHODS) {
      if (!majors.includes(major)) continue
      await t.test(name, async () => {
        rig.proxied.fake.requests.length = 0
        await use(rig)
        assertNoLeaks(rig)
      })
    }
    const { createProxyFetch, PROXY_MANAGED } = rig.core
    for (const { name, majors, model } of VENDORS) {
      if (!majors.includes(major)) continue
      await t.test(`text and streaming with ${name}, on the core package`, async () => {
        rig.proxied.fake.requests.length = 0
        const made = model(rig, {
          apiKey: PROXY_MANAGED,
          fetch: createProxyFetch({ proxyUrl: rig.proxied.proxyUrl, apiKey: rig.apiKey }),
        })
        await text(rig, made)
        await streaming(rig, made)
        assert.equal(rig.proxied.fake.requests.length, 2)
        assertNoLeaks(rig)
      })
    }
    await t.test('the context key reaches the proxy with every request', () => {
      assert.ok(rig.proxied.wire().toLowerCase().includes('x-proxy-context-key: chat-1'))
    })
  })
}
