// Gemini by both doors: the Gemini API, and Vertex in express mode.
import { createGoogle } from '@ai-sdk/google'
import { createGoogleVertex } from '@ai-sdk/google-vertex/edge'
import type { LanguageModel } from 'ai'
import {
  embed,
  file,
  image,
  object,
  PIXEL,
  SOUND,
  speech,
  stream,
  streamedObject,
  streamTools,
  text,
  tools,
  video,
  type Fetch,
} from '../calls.ts'
import { MANAGED, type Case } from '../twice.ts'
import { bytes, json, sse, type Tokens, type Wire } from '../wire.ts'

const google = (fetch: Fetch) => createGoogle({ apiKey: MANAGED, fetch })
const vertex = (fetch: Fetch) => createGoogleVertex({ apiKey: MANAGED, fetch })

const USAGE = {
  promptTokenCount: 20,
  candidatesTokenCount: 9,
  thoughtsTokenCount: 31,
  cachedContentTokenCount: 6,
  totalTokenCount: 60,
  promptTokensDetails: [{ modality: 'TEXT', tokenCount: 20 }],
  trafficType: 'ON_DEMAND',
  serviceTier: 'standard',
}
const TOKENS: Tokens = [20, 40, 6, 31]
const HEADERS = {
  Server: 'scaffolding on HTTPServer2',
  'X-Gemini-Service-Tier': 'standard',
  Vary: 'Origin',
}
const candidate = (parts: object[], finishReason?: string) => ({
  candidates: [
    {
      content: { role: 'model', parts },
      index: 0,
      ...(finishReason && {
        finishReason,
        safetyRatings: [{ category: 'HARM_CATEGORY_HATE_SPEECH', probability: 'NEGLIGIBLE' }],
      }),
    },
  ],
  modelVersion: 'gemini-2.5-flash',
  responseId: 'xq_LaPq3',
})
const whole = (parts: object[]): Wire =>
  json({ ...candidate(parts, 'STOP'), usageMetadata: USAGE }, { tokens: TOKENS, headers: HEADERS })
const streamed = (...pieces: object[][]): Wire =>
  sse(
    pieces.map((parts, i) => ({
      ...candidate(parts, i === pieces.length - 1 ? 'STOP' : undefined),
      usageMetadata:
        i === pieces.length - 1 ? USAGE : { promptTokenCount: 20, totalTokenCount: 20 },
    })),
    { tokens: TOKENS, headers: HEADERS },
  )
const CALL = {
  functionCall: { name: 'weather', args: { city: 'Paris' } },
  thoughtSignature: 'CpcBAdHtim8',
}

const languageOf = (name: string, model: (fetch: Fetch) => LanguageModel): Case[] => [
  {
    name: `${name}: generates`,
    run: text(model),
    responses: [
      whole([{ text: 'Paris, then.', thought: true }, { text: 'It is sunny — 21 °C. 🌞' }]),
    ],
  },
  {
    name: `${name}: streams`,
    run: stream(model),
    responses: [streamed([{ text: 'It is ' }], [{ text: 'sunny.' }], [{ text: ' 🌞' }])],
  },
  {
    name: `${name}: calls tools`,
    run: tools(model),
    responses: [whole([CALL]), whole([{ text: 'Sunny.' }])],
  },
  {
    name: `${name}: streams tool calls`,
    run: streamTools(model),
    responses: [streamed([CALL]), streamed([{ text: 'Sunny.' }])],
  },
  {
    name: `${name}: an object`,
    run: object(model),
    responses: [whole([{ text: '{"city":"Paris"}' }])],
  },
  {
    name: `${name}: a streamed object`,
    run: streamedObject(model),
    responses: [streamed([{ text: '{"city":' }], [{ text: '"Paris"}' }])],
  },
  {
    name: `${name}: makes an image in a text`,
    run: text(model),
    responses: [
      whole([
        { text: 'Here:' },
        { inlineData: { mimeType: 'image/png', data: PIXEL.toString('base64') } },
      ]),
    ],
  },
]

const GOOGLE_FILE = {
  name: 'files/abc-123',
  displayName: 'pixel',
  mimeType: 'image/png',
  sizeBytes: '70',
  createTime: '2025-01-01T00:00:00Z',
  updateTime: '2025-01-01T00:00:00Z',
  expirationTime: '2025-01-03T00:00:00Z',
  sha256Hash: 'YWJj',
  uri: 'https://generativelanguage.googleapis.com/v1beta/files/abc-123',
}
const OPERATION = 'models/veo-3.0-generate-001/operations/op77'
const done = (uri: string): Wire =>
  json({
    name: OPERATION,
    done: true,
    response: {
      '@type': 'type.googleapis.com/PredictLongRunningResponse',
      generateVideoResponse: { generatedSamples: [{ video: { uri } }] },
    },
  })
const MP4 = Buffer.concat([
  Buffer.from([0, 0, 0, 24]),
  Buffer.from('ftypmp42'),
  Buffer.alloc(64, 7),
])
const VIDEO = 'https://generativelanguage.googleapis.com/v1beta/files/vid1:download?alt=media'
const quick = { poll: { intervalMs: 1 } }

export const GOOGLE_CASES: Case[] = [
  ...languageOf('google', (fetch) => google(fetch)('gemini-2.5-flash')),
  ...languageOf('vertex express', (fetch) => vertex(fetch)('gemini-2.5-flash')),
  {
    name: 'google: embeds many',
    run: embed((fetch) => google(fetch).embedding('gemini-embedding-001')),
    responses: [json({ embeddings: [{ values: [0.1, -0.2, 3e-9] }, { values: [0.4, 0.5, 0.6] }] })],
  },
  {
    name: 'google: embeds one',
    run: embed((fetch) => google(fetch).embedding('gemini-embedding-001'), ['sunny']),
    responses: [json({ embedding: { values: [0.1, -0.2, 3e-9] } })],
  },
  {
    name: 'vertex express: embeds',
    run: embed((fetch) => vertex(fetch).embeddingModel('text-embedding-005')),
    responses: [
      json(
        {
          predictions: [
            {
              embeddings: { values: [0.1, 0.2], statistics: { token_count: 3, truncated: false } },
            },
            {
              embeddings: { values: [0.3, 0.4], statistics: { token_count: 4, truncated: false } },
            },
          ],
        },
        { tokens: [7, null, null, null] },
      ),
    ],
  },
  {
    name: 'google: makes an image',
    run: image((fetch) => google(fetch).image('gemini-2.5-flash-image'), { aspectRatio: '16:9' }),
    responses: [whole([{ inlineData: { mimeType: 'image/png', data: PIXEL.toString('base64') } }])],
    countsOtherwise: "the SDK leaves the thoughts out of an image's usage",
  },
  {
    name: 'vertex express: makes an image',
    run: image((fetch) => vertex(fetch).image('gemini-2.5-flash-image')),
    responses: [whole([{ inlineData: { mimeType: 'image/png', data: PIXEL.toString('base64') } }])],
    countsOtherwise: "the SDK leaves the thoughts out of an image's usage",
  },
  {
    name: 'google: speaks',
    run: speech((fetch) => google(fetch).speech('gemini-2.5-flash-preview-tts')),
    responses: [
      json(
        {
          ...candidate(
            [
              {
                inlineData: {
                  mimeType: 'audio/L16;codec=pcm;rate=24000',
                  data: SOUND.toString('base64'),
                },
              },
            ],
            'STOP',
          ),
          usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 25, totalTokenCount: 28 },
        },
        { tokens: [3, 25, null, null] },
      ),
    ],
  },
  {
    name: 'google: uploads a file in two steps',
    run: file((fetch) => google(fetch).files(), {
      providerOptions: { google: { displayName: 'pixel', pollIntervalMs: 1 } },
    }),
    responses: [
      bytes('text/plain', Buffer.alloc(0), {
        headers: {
          'X-Goog-Upload-URL':
            'https://generativelanguage.googleapis.com/upload/v1beta/files?upload_id=ADPyc&upload_protocol=resumable',
          'X-Goog-Upload-Status': 'active',
          'X-Goog-Upload-Chunk-Granularity': '8388608',
        },
      }),
      json(
        { file: { ...GOOGLE_FILE, state: 'PROCESSING' } },
        { headers: { 'X-Goog-Upload-Status': 'final' } },
      ),
      json({ ...GOOGLE_FILE, state: 'PROCESSING' }),
      json({ ...GOOGLE_FILE, state: 'ACTIVE' }),
    ],
  },
  {
    name: 'google: makes a video, and fetches it by a redirect',
    run: video((fetch) => google(fetch).video('veo-3.0-generate-001'), quick),
    responses: [
      json({ name: OPERATION }),
      json({ name: OPERATION }),
      done(VIDEO),
      bytes('text/html', Buffer.from('moved'), {
        status: 302,
        headers: { Location: '/to/google/v1beta/files/vid1:download?alt=media&at=2' },
      }),
      bytes('video/mp4', MP4),
    ],
  },
]
