import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileScope } from '../../../server/keys/scope.ts'
import { boundaryOf } from '../../../server/proxy/inspect/boundaries.ts'
import { MultipartReader } from '../../../server/proxy/inspect/multipart.ts'
import { classify } from '../../../server/proxy/providers/endpoint.ts'
import { createProviderTable } from '../../../server/proxy/providers/table.ts'
import { checkScope } from './inspected.ts'

const TYPE = 'multipart/form-data; boundary=xyz'
const part = (head: string, content: string) => `--xyz\r\n${head}\r\n\r\n${content}\r\n`
const field = (name: string, value: string) =>
  part(`Content-Disposition: form-data; name="${name}"`, value)
const FILE = part(
  'Content-Disposition: form-data; name="file"; filename="a.mp3"\r\nContent-Type: audio/mpeg',
  'ID3\0\r\nbytes',
)
const END = '--xyz--\r\n'

const provider = createProviderTable().byId('openai')
const PATH = '/v1/audio/transcriptions'

async function check(body: string, type: string): Promise<string> {
  assert.ok(provider)
  const match = classify(provider, 'POST', PATH)
  const reach = await checkScope(compileScope(['allowed']), {
    provider,
    match,
    pathAndQuery: PATH,
    headers: ['Content-Type', type],
    body: Buffer.from(body, 'latin1'),
    limit: 1e6,
  })
  return reach.ok ? 'ok' : reach.code
}

const [NO, AMBIGUOUS] = ['model_not_allowed', 'ambiguous_body']

/** name, body, expected, content type */
const cases: [name: string, body: string, expected: string, type?: string][] = [
  ['model first', field('model', 'allowed') + FILE + END, 'ok'],
  ['model last', FILE + field('model', 'allowed') + END, 'ok'],
  ['no line break at the very end', `${FILE}${field('model', 'allowed')}--xyz--`, 'ok'],
  ['an empty line behind the end', `${FILE}${field('model', 'allowed')}${END}\r\n`, 'ok'],
  ['a line break in front', `\r\n${field('model', 'allowed')}${FILE}${END}`, 'ok'],
  [
    'a quoted boundary',
    field('model', 'allowed') + END,
    'ok',
    'multipart/form-data; boundary="xyz"',
  ],
  [
    'headers in lower case, name without quotes',
    part('content-disposition: form-data; name=model', 'allowed') + END,
    'ok',
  ],
  [
    'a text type',
    part(
      'Content-Disposition: form-data; name="model"\r\nContent-Type: text/plain; charset=utf-8',
      'allowed',
    ) + END,
    'ok',
  ],
  [
    'the encodings that change nothing',
    part(
      'Content-Disposition: form-data; name="model"\r\nContent-Type: text/plain; charset=US-ASCII\r\nContent-Transfer-Encoding: 8bit',
      'allowed',
    ) +
      part(
        'Content-Disposition: form-data; name="prompt"\r\nContent-Transfer-Encoding: binary',
        'x',
      ) +
      END,
    'ok',
  ],
  [
    'a binary model',
    part(
      'Content-Disposition: form-data; name="model"\r\nContent-Transfer-Encoding: Binary\r\nContent-Length: 7',
      'allowed',
    ) + END,
    'ok',
  ],
  [
    'other fields',
    field('language', 'en') +
      field('model', 'allowed') +
      field('timestamp_granularities[]', 'word') +
      END,
    'ok',
  ],
  [
    'an empty file',
    part('Content-Disposition: form-data; name="file"; filename="x"', '') +
      field('model', 'allowed') +
      END,
    'ok',
  ],

  ['another model', field('model', 'other') + FILE + END, NO],
  ['no model', FILE + END, NO],
  ['an empty model', field('model', '') + END, NO],
  ['a line break in the model', field('model', 'allowed\r\nx') + END, NO],
  ['a space in front of the model', field('model', ' allowed') + END, NO],
  [
    'two lines of another boundary',
    part(
      'Content-Disposition: form-data; name="x"',
      '--abc\r\nContent-Disposition: form-data; name="model"\r\n\r\nallowed',
    ) + END,
    NO,
  ],
  ['no boundary', field('model', 'allowed') + END, NO, 'multipart/form-data'],
  ['an empty boundary', field('model', 'allowed') + END, NO, 'multipart/form-data; boundary='],
  [
    'two boundaries',
    field('model', 'allowed') + END,
    NO,
    'multipart/form-data; boundary=xyz; boundary=abc',
  ],
  [
    'two boundaries, one in capitals',
    field('model', 'allowed') + END,
    NO,
    'multipart/form-data; boundary=xyz; Boundary=abc',
  ],
  [
    'an extended boundary',
    field('model', 'allowed') + END,
    NO,
    "multipart/form-data; boundary*=utf-8''xyz",
  ],
  [
    'a continued boundary',
    field('model', 'allowed') + END,
    NO,
    'multipart/form-data; boundary*0=xy; boundary*1=z',
  ],
  [
    'an escaped boundary',
    field('model', 'allowed') + END,
    NO,
    'multipart/form-data; boundary="x\\yz"',
  ],
  [
    'a boundary that is too long',
    field('model', 'allowed') + END,
    NO,
    `multipart/form-data; boundary=${'x'.repeat(71)}`,
  ],
  [
    'another parameter',
    field('model', 'allowed') + END,
    NO,
    'multipart/form-data; boundary=xyz; x=y',
  ],
  ['multipart/mixed', field('model', 'allowed') + END, NO, 'multipart/mixed; boundary=xyz'],
  ['multipart/related', field('model', 'allowed') + END, NO, 'multipart/related; boundary=xyz'],

  ['the model twice', field('model', 'allowed') + field('model', 'other') + END, AMBIGUOUS],
  ['the same model twice', field('model', 'allowed') + field('model', 'allowed') + END, AMBIGUOUS],
  [
    'the model as a file',
    part('Content-Disposition: form-data; name="model"; filename="x"', 'allowed') + END,
    AMBIGUOUS,
  ],
  [
    'the model as an extended file',
    part('Content-Disposition: form-data; name="model"; filename*=utf-8\'\'x', 'allowed') + END,
    AMBIGUOUS,
  ],
  [
    'the model in base64',
    part(
      'Content-Disposition: form-data; name="model"\r\nContent-Transfer-Encoding: base64',
      'YWxsb3dlZA==',
    ) + END,
    AMBIGUOUS,
  ],
  [
    'the model in UTF-16',
    part(
      'Content-Disposition: form-data; name="model"\r\nContent-Type: text/plain; charset=utf-16',
      'allowed',
    ) + END,
    AMBIGUOUS,
  ],
  [
    'the model as an image',
    part('Content-Disposition: form-data; name="model"\r\nContent-Type: image/png', 'allowed') +
      END,
    AMBIGUOUS,
  ],
  // Transport padding (RFC 2046, section 5.1.1): a boundary to some readers, content to others.
  ...[' ', '\t', ' \t '].flatMap((padding): typeof cases => [
    [
      `${JSON.stringify(padding)} behind the first boundary`,
      (field('model', 'allowed') + END).replace('--xyz', `--xyz${padding}`),
      AMBIGUOUS,
    ],
    [
      `${JSON.stringify(padding)} behind a later boundary`,
      field('model', 'allowed') + field('model', 'other').replace('--xyz', `--xyz${padding}`) + END,
      AMBIGUOUS,
    ],
    [
      `${JSON.stringify(padding)} behind the end`,
      `${field('model', 'allowed')}--xyz--${padding}\r\n`,
      AMBIGUOUS,
    ],
  ]),
  ['a charset field', field('_charset_', 'utf-16') + field('model', 'allowed') + END, AMBIGUOUS],
  ['Model', field('model', 'allowed') + field('Model', 'other') + END, AMBIGUOUS],
  // Parts of a list or an object to PHP, Rack, qs and others.
  ...['model[0]', 'model[]', 'model[a][b]', 'model[0', 'model.0', '[model]'].map(
    (name): (typeof cases)[number] => [
      name,
      field('model', 'allowed') + field(name, 'other') + END,
      AMBIGUOUS,
    ],
  ),
  ['model with a space', field('model', 'allowed') + field('model ', 'other') + END, AMBIGUOUS],
  ['model with a NUL', field('model', 'allowed') + field('model\0', 'other') + END, AMBIGUOUS],
  ['an escaped name', field('model', 'allowed') + field('mod\\el', 'other') + END, AMBIGUOUS],
  [
    'a percent-encoded name',
    field('model', 'allowed') + field('mod%65l', 'other') + END,
    AMBIGUOUS,
  ],
  [
    'a quote in the name',
    field('model', 'allowed') +
      part('Content-Disposition: form-data; name="model\\"x"', 'other') +
      END,
    AMBIGUOUS,
  ],
  [
    'two names',
    field('model', 'allowed') +
      part('Content-Disposition: form-data; name="x"; name="model"', 'other') +
      END,
    AMBIGUOUS,
  ],
  [
    'an extended name',
    field('model', 'allowed') +
      part("Content-Disposition: form-data; name*=utf-8''model", 'other') +
      END,
    AMBIGUOUS,
  ],
  [
    'a name and an extended name',
    field('model', 'allowed') +
      part('Content-Disposition: form-data; name="x"; name*=utf-8\'\'model', 'other') +
      END,
    AMBIGUOUS,
  ],
  [
    'a continued name',
    field('model', 'allowed') +
      part('Content-Disposition: form-data; name*0=mod; name*1=el', 'other') +
      END,
    AMBIGUOUS,
  ],
  [
    'two dispositions',
    part(
      'Content-Disposition: form-data; name="x"\r\nContent-Disposition: form-data; name="model"',
      'other',
    ) +
      field('model', 'allowed') +
      END,
    AMBIGUOUS,
  ],
  [
    'no disposition',
    part('Content-Type: text/plain', 'x') + field('model', 'allowed') + END,
    AMBIGUOUS,
  ],
  [
    'an attachment',
    part('Content-Disposition: attachment; name="model"', 'other') +
      field('model', 'allowed') +
      END,
    AMBIGUOUS,
  ],
  [
    'a folded header',
    part('Content-Disposition: form-data;\r\n name="model"', 'other') +
      field('model', 'allowed') +
      END,
    AMBIGUOUS,
  ],
  [
    'a header with a space before the colon',
    part('Content-Disposition : form-data; name="model"', 'other') +
      field('model', 'allowed') +
      END,
    AMBIGUOUS,
  ],
  [
    'garbage in the disposition',
    part('Content-Disposition: form-data; name="x" junk; name2="model"', 'other') +
      field('model', 'allowed') +
      END,
    AMBIGUOUS,
  ],
  [
    'an unclosed quote',
    part('Content-Disposition: form-data; name="model', 'other') + field('model', 'allowed') + END,
    AMBIGUOUS,
  ],
  [
    'nested multipart',
    part(
      'Content-Disposition: form-data; name="x"\r\nContent-Type: multipart/mixed; boundary=abc',
      '--abc--',
    ) +
      field('model', 'allowed') +
      END,
    AMBIGUOUS,
  ],
  ['line feeds only', (field('model', 'allowed') + END).replaceAll('\r\n', '\n'), AMBIGUOUS],
  [
    'a boundary behind a line feed only',
    part(
      'Content-Disposition: form-data; name="file"; filename="x"',
      'a\n--xyz\r\nContent-Disposition: form-data; name="model"\r\n\r\nother',
    ) +
      field('model', 'allowed') +
      END,
    AMBIGUOUS,
  ],
  [
    'the model behind a line feed only',
    part(
      'Content-Disposition: form-data; name="file"; filename="x"',
      'a\n--xyz\r\nContent-Disposition: form-data; name="model"\r\n\r\nallowed',
    ) + END,
    AMBIGUOUS,
  ],
  [
    'a boundary in a header',
    part('Content-Disposition: form-data; name="file"; filename="x"\r\nX: --xyz', 'a') +
      field('model', 'allowed') +
      END,
    AMBIGUOUS,
  ],
  [
    'a boundary inside a line',
    part('Content-Disposition: form-data; name="file"; filename="x"', 'a--xyz') +
      field('model', 'allowed') +
      END,
    AMBIGUOUS,
  ],
  [
    'a boundary that goes on',
    part('Content-Disposition: form-data; name="file"; filename="x"', 'a\r\n--xyzzy') +
      field('model', 'allowed') +
      END,
    AMBIGUOUS,
  ],
  [
    'a boundary in the headers',
    `--xyz\r\nX: y\r\n--xyz\r\nContent-Disposition: form-data; name="model"\r\n\r\nallowed\r\n${END}`,
    AMBIGUOUS,
  ],
  [
    'space behind the boundary',
    `--xyz \r\nContent-Disposition: form-data; name="model"\r\n\r\nallowed\r\n${END}`,
    AMBIGUOUS,
  ],
  ['a preamble', `x\r\n${field('model', 'allowed')}${END}`, AMBIGUOUS],
  ['an epilogue', `${field('model', 'allowed')}${END}${field('model', 'other')}${END}`, AMBIGUOUS],
  ['more empty lines behind the end', `${field('model', 'allowed')}${END}\r\n\r\n`, AMBIGUOUS],
  ['half a line break behind the end', `${field('model', 'allowed')}${END}\r`, AMBIGUOUS],
  ['a part behind the end', `${field('model', 'allowed')}--xyz--\r\n--xyz\r\n`, AMBIGUOUS],
  ['no end', field('model', 'allowed'), AMBIGUOUS],
  ['cut off', field('model', 'allowed').slice(0, 30), AMBIGUOUS],
  [
    'another boundary in the body',
    field('model', 'allowed') + END,
    AMBIGUOUS,
    'multipart/form-data; boundary=abc',
  ],
  ['invalid UTF-8 in the model', field('model', 'allowed\xff') + END, AMBIGUOUS],
  ['a very long model', field('model', 'a'.repeat(5_000)) + END, AMBIGUOUS],
  ['endless headers', `--xyz\r\nX: ${'y'.repeat(20_000)}\r\n\r\n\r\n${END}`, AMBIGUOUS],
  ['too many parts', field('x', '').repeat(1_001) + field('model', 'allowed') + END, AMBIGUOUS],
]

for (const [name, body, expected, type = TYPE] of cases) {
  test(`multipart: ${name} → ${expected}`, async () =>
    assert.equal(await check(body, type), expected))
}

test('a form by a real client is read', async () => {
  const form = new FormData()
  form.append('model', 'allowed')
  form.append(
    'file',
    new File([new Uint8Array(100_000)], 'a "quoted" näme.mp3', { type: 'audio/mpeg' }),
  )
  form.append('language', 'de')
  const response = new Response(form)
  const boundary = boundaryOf(response.headers.get('content-type') ?? '')
  assert.ok(boundary !== null)
  const reader = new MultipartReader(boundary, new Set(['model']))
  reader.write(Buffer.from(await response.arrayBuffer()))
  assert.deepEqual(reader.end(), { problem: null, fields: [{ name: 'model', value: 'allowed' }] })
})
