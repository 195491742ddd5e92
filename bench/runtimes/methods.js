// Calls of the client packages for any runtime: plain JavaScript, web standards only.

const City = {
  type: 'object',
  properties: { city: { type: 'string' }, degrees: { type: 'number' } },
  required: ['city', 'degrees'],
  additionalProperties: false,
}

/** @throws Error that names the expected value */
function same(found, wanted) {
  if (JSON.stringify(found) !== JSON.stringify(wanted))
    throw new Error(`${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`)
}

/**
 * TABLE of methods: their calls, and the expected results. `given` has the packages, the providers,
 * and the major version of the AI SDK.
 */
const METHODS = {
  async text({ ai, google, vertex, openai }) {
    for (const model of [
      google('gemini-2.5-flash'),
      vertex('gemini-2.5-flash'),
      openai.chat('gpt-5'),
    ])
      same((await ai.generateText({ model, prompt: 'Hello' })).text.slice(0, 5), 'Hello')
  },
  async stream({ ai, google, openai }) {
    for (const model of [google('gemini-2.5-flash'), openai.chat('gpt-5')]) {
      let text = ''
      for await (const piece of ai.streamText({ model, prompt: 'Hello' }).textStream) text += piece
      same(text.slice(0, 5), 'Hello')
    }
  },
  async object({ ai, google }) {
    same(
      (
        await ai.generateObject({
          model: google('gemini-2.5-flash'),
          schema: ai.jsonSchema(City),
          prompt: 'How warm is it?',
        })
      ).object,
      { city: 'Ulm', degrees: 21 },
    )
  },
  async tools({ ai, google }) {
    const weather = ai.tool({
      description: 'The weather',
      inputSchema: ai.jsonSchema({ type: 'object', properties: { city: { type: 'string' } } }),
      execute: async () => ({ degrees: 21 }),
    })
    same(
      (
        await ai.generateText({
          model: google('gemini-2.5-flash'),
          prompt: 'How warm is it?',
          tools: { weather },
          stopWhen: ai.stepCountIs(3),
        })
      ).text,
      'It is 21 degrees.',
    )
  },
  async embed({ ai, google }) {
    same(
      (await ai.embedMany({ model: google.embedding('gemini-embedding-001'), values: ['a', 'b'] }))
        .embeddings,
      [
        [0, 0.5],
        [1, 0.5],
      ],
    )
  },
  async image({ ai, google }) {
    const generate = ai.generateImage ?? ai.experimental_generateImage
    same(
      (await generate({ model: google.image('gemini-2.5-flash-image'), prompt: 'A cat' })).image
        .mediaType,
      'image/png',
    )
  },
  async speech({ ai, openai }) {
    const speak = ai.generateSpeech ?? ai.experimental_generateSpeech
    same(
      (await speak({ model: openai.speech('gpt-4o-mini-tts'), text: 'Hello' })).audio.uint8Array
        .length > 100,
      true,
    )
  },
  async transcription({ ai, openai }) {
    const transcribe = ai.transcribe ?? ai.experimental_transcribe
    same(
      (await transcribe({ model: openai.transcription('whisper-1'), audio: new Uint8Array(2_000) }))
        .text,
      'Hello',
    )
  },
  async video({ ai, google, major }) {
    const poll = major === 7 ? { poll: { intervalMs: 1 } } : {}
    const { video } = await ai.experimental_generateVideo({
      model: google.video('veo-3.1-generate-preview'),
      prompt: 'A cat',
      providerOptions: { google: { pollIntervalMs: 1 } },
      ...poll,
    })
    same(video.mediaType, 'video/mp4')
  },
  async files({ ai, google }) {
    if (ai.uploadFile === undefined) return 'not in this AI SDK'
    const file = await ai.uploadFile({
      api: google.files(),
      data: { type: 'text', text: 'What is in the file' },
      mediaType: 'text/plain',
    })
    same(
      file.providerReference.google,
      'https://generativelanguage.googleapis.com/v1beta/files/up1',
    )
  },
  // How the AI SDK downloads results from a URL: it checks each redirect before it follows it.
  async 'redirected download'({ utils, fetch }) {
    const url = 'https://generativelanguage.googleapis.com/v1beta/files/video1:download?alt=media'
    const { value } = await utils.getFromApi({
      url,
      fetch,
      validateUrl: true,
      successfulResponseHandler: utils.createBinaryResponseHandler(),
      failedResponseHandler: async () => ({ value: new Error('failed') }),
    })
    same(value.length > 100, true)
  },
}

/**
 * Calls every method once, through the proxy.
 *
 * @returns by method: `ok`, why it does not count, or the error message
 */
export async function runMethods(
  { ai, core, createGenai, createExpress, createOpenAI, utils },
  { proxyUrl, apiKey, major },
) {
  const fetch = core.createProxyFetch({ proxyUrl, apiKey })
  let providers
  try {
    providers = {
      google: createGenai({ proxyUrl, apiKey }),
      vertex: createExpress({ proxyUrl, apiKey }),
      openai: createOpenAI({ apiKey: core.PROXY_MANAGED, fetch }),
    }
  } catch (error) {
    const refused = /needs AI SDK 6 or 7/.test(error.message) ? 'refused' : error.message
    return Object.fromEntries(Object.keys(METHODS).map((name) => [name, refused]))
  }
  const results = {}
  for (const [name, method] of Object.entries(METHODS)) {
    try {
      results[name] = (await method({ ai, fetch, utils, major, ...providers })) ?? 'ok'
    } catch (error) {
      results[name] = `${error.message}${error.cause ? `: ${error.cause.message}` : ''}`.slice(
        0,
        120,
      )
    }
  }
  return results
}
