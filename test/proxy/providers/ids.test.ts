// Which strings are ids of stored objects, whatever stands around them in a request.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { wantPaths } from '../../../server/proxy/json/paths.ts'
import { JsonScanner } from '../../../server/proxy/json/scanner.ts'
import { createProviderTable } from '../../../server/proxy/providers/table.ts'
import { PROVIDERS } from '../../../server/proxy/providers/rows/index.ts'
import { drawing, madeAt, ordinary, pick, SPELLED } from './id-cases.ts'

const table = createProviderTable({
  instances: [
    { provider: 'azure', values: { resource: 'acme' } },
    { provider: 'bedrock', values: { region: 'us-east-1' } },
  ],
})
const idsOf = (provider: string) => table.byId(provider)!.ids!
const GENERATED = '68a1b2c3d4e5f60718293a4b5c6d7e8f'
const UUID = '0f8fad5b-d9cb-469f-a165-70867728950e'
const GOOGLE_FILES = 'https://generativelanguage.googleapis.com/v1beta/files'

/** TABLE of strings and what they name: kind, id, and `?` where nobody's passes; null for text. */
const STRINGS: [provider: string, text: string, names: string | null][] = [
  ['openai', 'file-abc', 'file file-abc ?'],
  ['openai', `file-${GENERATED}`, `file file-${GENERATED}`],
  ['openai', ` file-${GENERATED}\n`, `file file-${GENERATED}`],
  ['openai', `file%2D${GENERATED}`, `file file-${GENERATED}`],
  ['openai', `file%252D${GENERATED}/`, `file file-${GENERATED}`],
  ['openai', `files/file-${GENERATED}/content`, `file file-${GENERATED} ?`],
  ['openai', `https://api.openai.com/v1/files/file-${GENERATED}?x=1`, `file file-${GENERATED} ?`],
  ['openai', `https://example.com/v1/files/file-${GENERATED}`, null],
  ['openai', `see file-${GENERATED}`, null],
  ['openai', 'file_search', null],
  ['openai', 'file_search_call', null],
  ['openai', `resp_${GENERATED}`, `response resp_${GENERATED}`],
  ['openai', `msg_${GENERATED}`, `item msg_${GENERATED} ?`],
  ['openai', `mcpl_${GENERATED}`, `item mcpl_${GENERATED} ?`],
  ['openai', `chatcmpl-${GENERATED}`, `completion chatcmpl-${GENERATED} ?`],
  ['openai', 'ft:gpt-4o-mini:acme::abc', 'tuned_model ft:gpt-4o-mini:acme::abc'],
  ['openai', 'ft:', null],
  ['openai', 'gpt-4o', null],
  ['openai', `call_${GENERATED}`, null],
  ['openai', UUID, null],
  ['mistral', UUID, `* ${UUID} ?`],
  ['mistral', UUID.toUpperCase(), `* ${UUID} ?`],
  ...[
    UUID.replaceAll('-', ''),
    UUID.replaceAll('-', '').toUpperCase(),
    `{${UUID}}`,
    `{${UUID.toUpperCase()}}`,
    `(${UUID})`,
    `urn:uuid:${UUID}`,
    `URN:UUID:${UUID.toUpperCase()}`,
    `uuid:${UUID}`,
    UUID.replace(/-/, ''),
    UUID.replaceAll('-', '').replace(/(.{4})/g, '$1-'),
    UUID.replace('0f8f', 'f8f'),
    `0000${UUID}`,
    `${UUID}/`,
    `%7B${UUID}%7D`,
    ` ${UUID.replaceAll('-', '')}\n`,
    '{0x0f8fad5b,0xd9cb,0x469f,{0xa1,0x65,0x70,0x86,0x77,0x28,0x95,0x0e}}',
    encodeURIComponent(`urn:uuid:${UUID}`),
  ].map((text): [string, string, string] => ['mistral', text, `* ${UUID} ?`]),
  ['mistral', `https://api.mistral.ai/v1/files/{${UUID}}`, `* ${UUID} ?`],
  ...[
    `${UUID}0`,
    `x${UUID}`,
    'deadbeef',
    '2024-01-02-03-04',
    `${UUID} ${UUID}`,
    '0f8fad5bd9cb469fa16570867728950',
    'abcdefabcdefabcdefabcdefabcdefabcdef',
  ].map((text): [string, string, null] => ['mistral', text, null]),
  ['together', `file-${UUID.toUpperCase()}`, `file file-${UUID}`],
  ['openai', UUID.replaceAll('-', ''), null],
  ['together', `file-${UUID}`, `file file-${UUID}`],
  ['anthropic', 'file_011CNha8iCJcU1wXNR6q4V8w', 'file file_011CNha8iCJcU1wXNR6q4V8w'],
  ['anthropic', 'toolu_01A09q90qw90lq917835lq9', null],
  ['anthropic', 'msg_013Zva2CMHLNnXjNJJKqJ2EF', 'message msg_013Zva2CMHLNnXjNJJKqJ2EF ?'],
  ['google', 'files/abc', 'file abc ?'],
  ['google', 'files/k3j9x0a2b1c4', 'file k3j9x0a2b1c4'],
  ['google', `${GOOGLE_FILES}/abc`, 'file abc'],
  ['google', `${GOOGLE_FILES}/abc:download?alt=media`, 'file abc'],
  ['google', `${GOOGLE_FILES}/ab%63/`, 'file abc'],
  ['google', 'HTTPS://GenerativeLanguage.googleapis.com:443/v1/files/abc', 'file abc'],
  ['google', '//generativelanguage.googleapis.com/v1beta/files/abc', 'file abc'],
  ['google', 'v1beta/files/abc', 'file abc ?'],
  ['google', 'Files/abc', 'file abc ?'],
  ['google', 'cachedContents/abc', 'cached_content abc'],
  ['google', 'tunedModels/x:generateContent', 'tuned_model x'],
  ['google', 'fileSearchStores/s/documents/d', 'file_search_store s'],
  ['google', 'models/veo/operations/o-1', 'operation o-1 ?'],
  ['google', 'models/gemini-2.5-flash', null],
  ['google', 'src/files/abc', null],
  ['google', 'files', null],
  ['google', 'files/', null],
  ['google', 'files/read me', null],
  ['google', 'https://example.com/files/abc', null],
  ['google', 'gs://bucket/files/abc', null],
  ['google', 'user', null],
  ['vertex', 'projects/p/locations/l/cachedContents/123', 'cached_content 123'],
  ['azure', `assistant-${GENERATED}`, `file assistant-${GENERATED}`],
  ['groq', `batch_01jh6xa7reempvjyh6n3yst2zw`, 'batch batch_01jh6xa7reempvjyh6n3yst2zw'],
]

test("a string names an object only as a whole, in its provider's spelling", () => {
  for (const [provider, text, names] of STRINGS) {
    const ref = idsOf(provider).refOf(text)
    assert.equal(
      ref && `${ref.kind} ${ref.id}${ref.mayBeUnknown === true ? ' ?' : ''}`,
      names,
      `${provider} ${text}`,
    )
  }
})

test('every spelling of an id is recognised, and no prefilter skips it', () => {
  const draw = drawing(1)
  for (let i = 0; i < 5_000; i++) {
    const { id } = pick(draw, SPELLED)
    const { firsts, shortest, longest, refOf } = idsOf(id)
    const made = madeAt(id, draw)
    for (const text of made.spelled) {
      const bytes = Buffer.from(text)
      const ref = refOf(text)
      assert.deepEqual(
        ref && { kind: ref.kind === '*' ? made.kind : ref.kind, id: ref.id },
        { kind: made.kind, id: made.id },
        `${id} ${text}`,
      )
      assert.ok(
        firsts[bytes[0]!] === 1 && bytes.length >= shortest && bytes.length <= longest,
        `${id} ${text}`,
      )
    }
  }
})

test('ordinary strings name no object', () => {
  const draw = drawing(2)
  for (let i = 0; i < 5_000; i++) {
    const { id } = pick(draw, SPELLED)
    const text = ordinary(draw)
    const ref = idsOf(id).refOf(text)
    assert.ok(ref === null || ref.mayBeUnknown === true, `${id} ${text}`)
  }
})

test('a scan reports every id', () => {
  for (const [provider, text, names] of STRINGS) {
    if (names === null) continue
    const ids = idsOf(provider)
    const told: string[] = []
    const scanner = new JsonScanner(
      wantPaths([]),
      { value() {} },
      {
        strings: {
          filter: ids,
          each: (bytes, from, to) => told.push(bytes.toString('utf8', from, to)),
        },
      },
    )
    scanner.write(Buffer.from(`["${text}"]`))
    assert.deepEqual(told, [text])
  }
})

test('no text makes reading ids slow', () => {
  const texts = fc
    .array(
      fc.constantFrom(
        '/',
        '?',
        '#',
        '%',
        '%2f',
        '%25',
        ':',
        '@',
        '.',
        '\\',
        ' ',
        '\t',
        '{',
        '-',
        '_',
        'a',
        '0',
        'v1',
        'http:',
        'files',
        'file-',
        'ft:',
        'models',
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join(''))
  for (const { id } of PROVIDERS) {
    const forms = table.byId(id)!
    for (const text of ['/?help', '/#top', '/?', '/%3fa'])
      assert.equal(forms.ids!.refOf(text), null, `${id} ${text}`)
    fc.assert(
      fc.property(texts, (text) => {
        forms.ids!.refOf(text)
        forms.unknownIds!.refOf(text)
      }),
      { numRuns: 2_000 },
    )
  }
})
