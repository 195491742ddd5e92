// TABLE of whole inspections: all checks of a body before it is forwarded.
import { classify } from '../../server/proxy/providers/endpoint.ts'
import { createProviderTable } from '../../server/proxy/providers/table.ts'
import { Inspection } from '../../server/proxy/inspect/inspection.ts'
import { BodyObserver } from '../../server/proxy/inspect/observer.ts'
import { createUsageMeter } from '../../server/proxy/usage/meter.ts'
import {
  CODINGS,
  JSON_BODIES,
  largeForm,
  manyFields,
  tokenLists,
  type Body,
} from '../parts/bodies.ts'
import { fill, large, split, type Row } from './row.ts'

const MB = 1024 * 1024
const provider = createProviderTable().byId('openai')!
const CHAT = classify(provider, 'POST', '/v1/responses')
const UNKNOWN = classify(provider, 'POST', '/v1/of/tomorrow')
const SPEECH = classify(provider, 'POST', '/v1/audio/transcriptions')
const chat = createProviderTable().byId('anthropic')!
const MESSAGES = classify(chat, 'POST', '/v1/messages')

const headersOf = ({ type, encoding }: Body): string[] => [
  'Content-Type',
  type,
  ...(encoding === undefined ? [] : ['Content-Encoding', encoding]),
]

/** Runs an inspection to its end, one step after another. */
const inspected = (body: Body, match: typeof CHAT, strict: boolean, piece?: number) => {
  const pieces = [...split(body.bytes, piece)]
  return async (): Promise<void> => {
    const inspection = new Inspection(
      { provider, match, headers: headersOf(body), strict, limit: 64 * MB },
      pieces,
    )
    for (;;) {
      const waiting = Promise.withResolvers<void>()
      const found = inspection.step(waiting.resolve)
      if (found === 'done') return
      if (found === 'waiting') await waiting.promise
    }
  }
}

const strictly = { scoped: true, open: false }

/** TABLE of parts of a form: head lines and text. */
const PARTS: Readonly<Record<string, readonly [head: string, text: (size: number) => string]>> = {
  'in base64': ['Content-Transfer-Encoding: base64\r\n', (size) => fill('Zm9vYmFy', size)],
  'in base64, broken': ['Content-Transfer-Encoding: base64\r\n', (size) => fill('Zm9v=', size)],
  'in quoted-printable': [
    'Content-Transfer-Encoding: quoted-printable\r\n',
    (size) => fill('=66oo=\r\n', size),
  ],
  'of JSON': ['', (size) => `[${fill('"file-abc123",', size)}1]`],
  'like JSON': ['', (size) => fill('[verse 1] ', size)],
  'of spaces': ['', (size) => fill(' ', size)],
}

const formOf = (head: string, text: string): Body => ({
  type: 'multipart/form-data; boundary=b',
  bytes: Buffer.from(
    `--b\r\nContent-Disposition: form-data; name="x"\r\n${head}\r\n${text}\r\n--b--\r\n`,
  ),
})

export const INSPECTIONS: readonly Row[] = [
  ...Object.entries({ ...JSON_BODIES, 'token lists': tokenLists }).flatMap(([name, make]) =>
    Object.entries(strictly).map(([who, strict]) =>
      large(`inspection, ${who} key: ${name}`, (size) => inspected(make(size), CHAT, strict)),
    ),
  ),
  large('inspection: a form with a large file', (size) => inspected(largeForm(size), SPEECH, true)),
  large('inspection: a form of small fields', (size) => inspected(manyFields(size), SPEECH, true)),
  large('inspection: a form of small fields, open key', (size) =>
    inspected(manyFields(size), SPEECH, false),
  ),
  ...Object.entries(PARTS).map(([name, [head, text]]) =>
    large(`inspection: a part ${name}`, (size) =>
      inspected(formOf(head, text(size)), SPEECH, false),
    ),
  ),
  large('inspection: words that could be ids', (size) =>
    inspected(
      { type: 'application/json', bytes: Buffer.from(fill('file-abc123 resp_0123456789 ', size)) },
      CHAT,
      false,
    ),
  ),
  large('inspection: different words', (size) =>
    inspected(
      {
        type: 'application/json',
        bytes: Buffer.from(
          Array.from({ length: size / 12 }, (_, i) => `word-${i % 40_000} `).join(''),
        ),
      },
      CHAT,
      false,
    ),
  ),
  large('inspection: escapes that are none', (size) =>
    inspected({ type: 'application/json', bytes: Buffer.from(fill('\\u00', size)) }, CHAT, false),
  ),
  large('inspection: an unknown endpoint', (size) =>
    inspected(
      {
        type: 'application/json',
        bytes: Buffer.from(
          `[${fill('{"file_id":"0f8fad5b-d9cb-469f-a165-70867728950e","x":["y"]},', size)}1]`,
        ),
      },
      UNKNOWN,
      false,
    ),
  ),
  large(
    'inspection: pieces of a byte',
    (size) => inspected(JSON_BODIES['short messages']!(size), CHAT, true, 1),
    4 * MB,
  ),
  ...Object.entries(CODINGS).map(([coding, encode]) =>
    large(`inspection: ${coding}`, (size) =>
      inspected(
        {
          type: 'application/json',
          encoding: coding,
          bytes: encode(JSON_BODIES['short messages']!(size).bytes),
        },
        CHAT,
        true,
      ),
    ),
  ),
  large('a body that is watched as it passes', (size) => {
    const body = JSON_BODIES['short messages']!(size)
    return () => {
      const observer = new BodyObserver(CHAT, headersOf(body), '/v1/responses')
      for (const piece of split(body.bytes)) observer.write(piece)
      return observer.end()
    }
  }),
  large('the usage of a whole response', (size) => {
    const bytes = Buffer.from(
      fill(
        'event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"text":"word"}}\n\n',
        size,
      ),
    )
    return async () => {
      const meter = createUsageMeter(chat, MESSAGES, ['Content-Type', 'text/event-stream'], {
        account_id: 'a',
        key_id: 'k',
      })
      for (const piece of split(bytes)) meter.write(piece)
      await meter.end()
    }
  }),
]
