// What a program does with the AI SDK, and all that it can see of the outcome.
import {
  embedMany,
  experimental_generateVideo,
  generateImage,
  generateObject,
  generateSpeech,
  generateText,
  jsonSchema,
  Output,
  rerank,
  streamObject,
  streamText,
  tool,
  transcribe,
  uploadFile,
  type EmbeddingModel,
  type ImageModel,
  type LanguageModel,
  type RerankingModel,
  type SpeechModel,
  type TranscriptionModel,
} from 'ai'

export type Fetch = typeof globalThis.fetch

/** One case's use of the SDK: everything goes out by the given fetch. */
export type Run = (fetch: Fetch) => Promise<unknown>

type Made<M> = (fetch: Fetch) => M
type Options = Partial<
  Omit<Parameters<typeof generateText>[0], 'model' | 'prompt' | 'messages' | 'tools' | 'output'>
>

const PROMPT = { prompt: 'What is the weather in Paris? 🌦' } as const
const ONCE = { maxRetries: 0 } as const
const CITY = jsonSchema<{ city: string }>({
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
})
const TOOLS = {
  weather: tool({
    description: 'The weather of a city',
    inputSchema: CITY,
    execute: ({ city }) => ({ city, celsius: 21 }),
  }),
}

export const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
export const SOUND = Buffer.from([
  0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 0, 0, 0xff, 0xfb, 0x90, 0, 1, 2, 3, 4,
])

export const text =
  (model: Made<LanguageModel>, options: Options = {}): Run =>
  async (fetch) =>
    (await generateText({ model: model(fetch), ...PROMPT, ...ONCE, ...options })).steps

export const stream =
  (model: Made<LanguageModel>, options: Options = {}): Run =>
  async (fetch) => {
    const result = streamText({
      model: model(fetch),
      ...PROMPT,
      ...ONCE,
      includeRawChunks: true,
      onError() {},
      ...options,
    })
    return {
      ...(await partsOf(result.fullStream)),
      steps: await Promise.resolve(result.steps).catch((error: unknown) => error),
    }
  }

/** The parts of a stream, and the error that it ends with. */
async function partsOf(
  stream: AsyncIterable<unknown>,
): Promise<{ parts: unknown[]; error: unknown }> {
  const parts: unknown[] = []
  try {
    for await (const part of stream) parts.push(part)
    return { parts, error: null }
  } catch (error) {
    return { parts, error }
  }
}

/** Two steps: the model asks for the tool, and responds from its result. */
export const tools =
  (model: Made<LanguageModel>): Run =>
  async (fetch) =>
    (
      await generateText({
        model: model(fetch),
        ...PROMPT,
        ...ONCE,
        tools: TOOLS,
        stopWhen: ({ steps }) => steps.length === 2,
      })
    ).steps

export const streamTools =
  (model: Made<LanguageModel>): Run =>
  async (fetch) => {
    const result = streamText({
      model: model(fetch),
      ...PROMPT,
      ...ONCE,
      tools: TOOLS,
      stopWhen: ({ steps }) => steps.length === 2,
      onError() {},
    })
    return { parts: await Array.fromAsync(result.fullStream), steps: await result.steps }
  }

export const object =
  (model: Made<LanguageModel>): Run =>
  async (fetch) => {
    const { object, usage, warnings, providerMetadata, response, request, finishReason } =
      await generateObject({ model: model(fetch), ...PROMPT, ...ONCE, schema: CITY })
    return { object, usage, warnings, providerMetadata, response, request, finishReason }
  }

export const streamedObject =
  (model: Made<LanguageModel>): Run =>
  async (fetch) => {
    const result = streamObject({
      model: model(fetch),
      ...PROMPT,
      ...ONCE,
      schema: CITY,
      onError() {},
    })
    const parts = await Array.fromAsync(result.fullStream)
    return {
      parts,
      object: await result.object,
      usage: await result.usage,
      warnings: await result.warnings,
      response: await result.response,
    }
  }

/** The newer way to the same: an output beside the text. */
export const output =
  (model: Made<LanguageModel>): Run =>
  async (fetch) => {
    const result = await generateText({
      model: model(fetch),
      ...PROMPT,
      ...ONCE,
      output: Output.object({ schema: CITY }),
    })
    return { output: result.output, steps: result.steps }
  }

export const embed =
  (model: Made<EmbeddingModel>, values: string[] = ['sunny day', 'rainy city']): Run =>
  async (fetch) =>
    embedMany({ model: model(fetch), values, ...ONCE, maxParallelCalls: 1 })

export const image =
  (model: Made<ImageModel>, options: Partial<Parameters<typeof generateImage>[0]> = {}): Run =>
  async (fetch) =>
    generateImage({ ...ONCE, prompt: 'A lighthouse', ...options, model: model(fetch) })

export const editImage = (model: Made<ImageModel>): Run =>
  image(model, { prompt: { text: 'Make it night', images: [PIXEL] } })

export const speech =
  (model: Made<SpeechModel>, options: Partial<Parameters<typeof generateSpeech>[0]> = {}): Run =>
  async (fetch) =>
    generateSpeech({ ...ONCE, text: 'Good morning', ...options, model: model(fetch) })

export const transcript =
  (model: Made<TranscriptionModel>): Run =>
  async (fetch) =>
    transcribe({ ...ONCE, model: model(fetch), audio: SOUND })

export const ranking =
  (model: Made<RerankingModel>): Run =>
  async (fetch) =>
    rerank({
      ...ONCE,
      model: model(fetch),
      documents: ['sunny day at the beach', 'rainy afternoon in the city'],
      query: 'talk about rain',
      topN: 2,
    })

type VideoOptions = Parameters<typeof experimental_generateVideo>[0]

/** The video itself is fetched the same way as everything else. */
export const video =
  (model: Made<VideoOptions['model']>, options: Partial<VideoOptions> = {}): Run =>
  async (fetch) =>
    experimental_generateVideo({
      ...ONCE,
      prompt: 'A boat at sea',
      ...options,
      model: model(fetch),
      download: async ({ url }) => {
        const got = await fetch(url)
        if (!got.ok) throw new Error(`the video got ${got.status}`)
        return { data: await got.bytes(), mediaType: got.headers.get('content-type') ?? undefined }
      },
    })

export const file =
  (
    api: Made<Parameters<typeof uploadFile>[0]['api']>,
    options: Partial<Parameters<typeof uploadFile>[0]> = { filename: 'pixel.png' },
  ): Run =>
  async (fetch) =>
    uploadFile({ data: PIXEL, ...options, api: api(fetch) })
