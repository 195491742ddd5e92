import assert from 'node:assert/strict'
import { test } from 'node:test'
import { archive } from '../support/archives/writer.ts'
import { PAGE, file, form } from '../support/form.ts'
import type { Form } from '../support/form.ts'
import { assertProblem, call, convert, shareServer } from '../support/harness.ts'
import { zip } from '../support/zip.ts'

const page = file('Page.html', PAGE)
const PNG = Buffer.from('89504e470d0a1a0a0000000d4948445200000001', 'hex')
const whole = form(page)

/** TABLE of forms that are refused: what is wrong, the form, the code of the 400. */
const REFUSED: [what: string, form: Form, code: string][] = [
  ['no parts', form(), 'missing_file'],
  ['no file', form({ name: 'format', content: 'json' }), 'missing_file'],
  ['a file under another name', form(file('Page.html', PAGE, 'upload')), 'missing_file'],
  ['text instead of a file', form({ name: 'file', content: PAGE }), 'missing_file'],
  ['text and a file', form({ name: 'file', content: PAGE }, page), 'invalid_field'],
  ['no file chosen in a browser', form(file('', '')), 'missing_file'],
  ['a second file', form(page, page), 'invalid_field'],
  ['an empty file', form(file('Page.html', '')), 'invalid_file'],
  ['an unknown format', form(page, { name: 'format', content: 'docx' }), 'invalid_field'],
  ['an unknown format in front', form({ name: 'format', content: 'docx' }, page), 'invalid_field'],
  [
    'a source map of Markdown',
    form(page, { name: 'source_map', content: 'true' }),
    'invalid_field',
  ],
  ['an unknown layout', form(page, { name: 'layout', content: 'wiki' }), 'invalid_field'],
  [
    'an unknown flavor',
    form(page, { name: 'layout', content: 'pages' }, { name: 'flavor', content: 'GFM' }),
    'invalid_field',
  ],
  ['a flavor of one document', form(page, { name: 'flavor', content: 'gfm' }), 'invalid_field'],
  [
    'pages as JSON',
    form({ name: 'format', content: 'json' }, page, { name: 'layout', content: 'pages' }),
    'invalid_field',
  ],
  ['an empty format', form(page, { name: 'format', content: '' }), 'invalid_field'],
  ['a format of another case', form(page, { name: 'format', content: 'JSON' }), 'invalid_field'],
  [
    'a format twice',
    form(page, { name: 'format', content: 'json' }, { name: 'format', content: 'json' }),
    'invalid_field',
  ],
  [
    'a format that never ends',
    form(page, { name: 'format', content: 'markdown'.repeat(10_000) }),
    'invalid_field',
  ],
  ['an unknown format as a file', form(page, file('blob', 'docx', 'format')), 'invalid_field'],
  [
    'a format as a file that never ends',
    form(page, file('blob', 'markdown'.repeat(10_000), 'format')),
    'invalid_field',
  ],
  [
    'include_metadata=maybe as a file',
    form(file('blob', 'maybe', 'include_metadata'), page),
    'invalid_field',
  ],
  [
    'include_metadata=yes',
    form(page, { name: 'include_metadata', content: 'yes' }),
    'invalid_field',
  ],
  [
    'include_metadata=constructor',
    form(page, { name: 'include_metadata', content: 'constructor' }),
    'invalid_field',
  ],
  ['include_metadata=', form({ name: 'include_metadata', content: '' }, page), 'invalid_field'],
  ['plain text', form(file('notes.txt', 'just some words')), 'unsupported_file_type'],
  ['a picture', form(file('picture.png', PNG)), 'unsupported_file_type'],
  ['a picture that is named as a page', form(file('Page.html', PNG)), 'unsupported_file_type'],
  [
    'a long picture',
    form(file('picture.png', Buffer.concat([PNG, Buffer.alloc(200_000)]))),
    'unsupported_file_type',
  ],
  ['an archive without entries', form(file('Export.zip', zip({}))), 'invalid_file'],
  [
    'an archive without entries, in ZIP64',
    form(file('Export.bin', archive([], { zip64: {} }))),
    'invalid_file',
  ],
  [
    'more fields than any form has',
    form(...Array.from({ length: 150 }, (_, index) => ({ name: `f${index}`, content: 'x' })), page),
    'invalid_field',
  ],
  ['no boundary', { contentType: 'multipart/form-data', body: whole.body }, 'missing_file'],
  [
    'an empty boundary',
    { contentType: 'multipart/form-data; boundary=', body: whole.body },
    'missing_file',
  ],
  [
    'another boundary',
    { contentType: 'multipart/form-data; boundary=other', body: whole.body },
    'invalid_file',
  ],
  ['a form that is cut off', { ...whole, body: whole.body.subarray(0, -40) }, 'invalid_file'],
  [
    'a form that is cut off in a head',
    { ...whole, body: whole.body.subarray(0, 60) },
    'invalid_file',
  ],
  ['an empty body', { ...whole, body: Buffer.alloc(0) }, 'missing_file'],
  [
    'a JSON body',
    { contentType: 'application/json', body: Buffer.from('{"file":"x"}') },
    'missing_file',
  ],
  ['the bare file', { contentType: 'text/html', body: Buffer.from(PAGE) }, 'missing_file'],
  [
    'a form of the other kind',
    { contentType: 'application/x-www-form-urlencoded', body: Buffer.from('file=x') },
    'missing_file',
  ],
]

test('invalid forms are refused with their code and do not count', async (t) => {
  const server = await shareServer()
  const token = await server.token()
  for (const [what, wrong, code] of REFUSED) {
    await t.test(what, async () => {
      const response = await convert(server.url, token, wrong)
      assertProblem(response, 400, code)
      assert.match(String(response.headers['ratelimit']), /r=10;/)
    })
  }
})

test('all faults of fields are reported together with a missing file, wherever the file is in the form', async () => {
  const server = await shareServer()
  const token = await server.token()
  const wrong = [
    { name: 'format', content: 'xml' },
    { name: 'include_metadata', content: 'maybe' },
  ]
  const inFields = ['format', 'include_metadata']
  for (const [fields, params] of [
    [form(...wrong, page), inFields],
    [form(page, ...wrong), inFields],
    [form(...wrong), [...inFields, 'file']],
    [form(), ['file']],
  ] as const) {
    const { errors } = (await convert(server.url, token, fields)).json<{
      errors: { param: string }[]
    }>()
    assert.deepEqual(
      errors.map(({ param }) => param),
      params,
    )
  }
})

test('a missing file is a fault of the field, with what was sent in its place', async () => {
  const server = await shareServer()
  const token = await server.token()
  const text = { name: 'file', content: PAGE }
  for (const [fields, detail] of [
    [form(text), 'This field has no file in it. Send it as a file, with a file name.'],
    [form(file('', '')), 'No file was chosen for this field.'],
    [
      form(file('Page.html', PAGE, 'upload'), file('b.html', PAGE, 'b')),
      'Send the exported .html or .zip file in this field. The file "Page.html" is in the field "upload".',
    ],
  ] as const) {
    const response = await convert(server.url, token, fields)
    assertProblem(response, 400, 'missing_file')
    const { errors } = response.json<{ errors: object[] }>()
    assert.deepEqual(errors, [{ param: 'file', code: 'missing', detail }])
  }
  const both = await convert(server.url, token, form(text, { name: 'format', content: 'xml' }))
  const { errors } = both.json<{ errors: { param: string }[] }>()
  assert.deepEqual(
    errors.map(({ param }) => param),
    ['format', 'file'],
  )
})

test('options in the address are refused, and the error says where they belong', async () => {
  const server = await shareServer()
  const response = await call(server.url, '/api/v1/convert?format=json&colour=red', {
    method: 'POST',
    token: await server.token(),
    headers: { 'Content-Type': whole.contentType },
    body: whole.body,
  })
  assertProblem(response, 400, 'invalid_field')
  const { errors } = response.json<{ errors: { param: string; detail: string }[] }>()
  assert.deepEqual(
    errors.map(({ param, detail }) => [param, detail]),
    [
      ['format', 'Unknown query parameter. Send it as a field of the form.'],
      ['colour', 'Unknown query parameter.'],
    ],
  )
})

test('a request without a body and content type is refused', async () => {
  const server = await shareServer()
  assertProblem(
    await call(server.url, '/api/v1/convert', { method: 'POST', token: await server.token() }),
    400,
    'missing_file',
  )
})

test('a form without a boundary is refused with that reason', async () => {
  const server = await shareServer()
  const token = await server.token()
  for (const contentType of [
    'multipart/form-data',
    'multipart/form-data;',
    'multipart/form-data; charset=utf-8',
  ]) {
    const response = await convert(server.url, token, { contentType, body: whole.body })
    assert.match(
      String(response.json()['detail']),
      /^The form has no boundary in its Content-Type\./,
      contentType,
    )
  }
})
