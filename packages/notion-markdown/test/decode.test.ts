import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { decodeHtml, looksLikeHtml, looksLikeZip } from '../src/decode.ts'

const raw = (string: string) => Buffer.from(string, 'latin1')
const utf8 = (string: string) => Buffer.from(string)
const utf16le = (string: string) => Buffer.from(string, 'utf16le')
const utf16be = (string: string) => utf16le(string).swap16()
const declared = (meta: string, text = '\xe4') => raw(`<html><head>${meta}</head><body>${text}`)

/** TABLE: bytes, and a piece of the text that they are. */
const TEXTS: [name: string, bytes: Uint8Array, holds: string][] = [
  ['UTF-8', utf8('<p>Füße テ 😀'), '<p>Füße テ 😀'],
  ['UTF-8 with a mark', utf8('\ufeff<p>ä'), '<p>ä'],
  ['UTF-16, little end first', utf16le('\ufeff<p>ä😀'), '<p>ä😀'],
  ['UTF-16, big end first', utf16be('\ufeff<p>ä😀'), '<p>ä😀'],
  [
    'a mark wins over what is declared',
    Buffer.concat([raw('\xef\xbb\xbf'), utf8('<meta charset=latin1>ä')]),
    '<meta charset=latin1>ä',
  ],
  ['a charset', declared('<meta charset="iso-8859-1">'), '<body>ä'],
  ['a charset without quotes, closed', declared('<META CHARSET=windows-1252/>', '\x80'), '<body>€'],
  [
    'a charset in single quotes, with spaces',
    declared("<meta name='x' charset = ' latin1 '>"),
    '<body>ä',
  ],
  [
    'a content type',
    declared('<meta http-equiv="Content-Type" content="text/html; charset=windows-1251"/>'),
    '<body>д',
  ],
  [
    'a content type, its attributes the other way round',
    declared('<meta content="text/html;charset=latin1" http-equiv=content-type>'),
    '<body>ä',
  ],
  ['Japanese', declared('<meta charset=shift_jis>', '\x83\x65'), '<body>テ'],
  [
    'a description that speaks of charsets',
    Buffer.concat([declared('<meta name="d" content="charset=latin1">', ''), utf8('ä')]),
    '<body>ä',
  ],
  [
    'a declaration in a comment',
    Buffer.concat([declared('<!-- <meta charset=latin1> -->', ''), utf8('ä')]),
    '<body>ä',
  ],
  [
    'the first declaration counts',
    declared('<meta charset=latin1><meta charset=windows-1251>'),
    '<body>ä',
  ],
  [
    'a declaration after 1024 bytes',
    Buffer.concat([declared(`${' '.repeat(1024)}<meta charset=latin1>`, ''), utf8('ä')]),
    '<body>ä',
  ],
  [
    'an encoding that nobody knows',
    Buffer.concat([declared('<meta charset=klingon>', ''), utf8('ä')]),
    '<body>ä',
  ],
  [
    'UTF-16 declared in ASCII',
    Buffer.concat([declared('<meta charset=utf-16le>', ''), utf8('ä')]),
    '<body>ä',
  ],
  ['invalid bytes', raw('a\xff\xe4b'), 'a\ufffd\ufffdb'],
  ['half a character at the end', raw('a\xf0\x9f'), 'a\ufffd'],
  ['nothing', raw(''), ''],
]

for (const [name, bytes, holds] of TEXTS) {
  test(`decodes: ${name}`, () => {
    const text = decodeHtml(bytes)
    assert.ok(text.includes(holds), JSON.stringify(text))
    assert.ok(!text.startsWith('\ufeff'))
  })
}

test('decoding never throws, and UTF-8 comes back', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 2000 }),
      fc.string({ unit: 'grapheme' }),
      (bytes, string) => {
        assert.equal(typeof decodeHtml(bytes), 'string')
        const page = `<p>${string}`
        assert.equal(decodeHtml(utf8(page)), page)
      },
    ),
  )
})

const PNG = raw('\x89PNG\r\n\x1a\n\0\0\0\rIHDR')

/** TABLE: the start of a file, its name, whether it is HTML. */
const KINDS: [name: string, bytes: Uint8Array, fileName: string | undefined, isHtml: boolean][] = [
  ['a page without a name', utf8('<html><head>'), undefined, true],
  ['a page called something else', utf8('<html><head>'), 'export.bin', true],
  ['a doctype', utf8('<!DOCTYPE html>\n<html>'), undefined, true],
  ['a doctype without a word', utf8('<!DOCTYPE><html>'), undefined, true],
  ['space and a mark first', utf8('\ufeff\n\t <HTML lang=en>'), undefined, true],
  ['UTF-16', utf16le('\ufeff<html><p>'), undefined, true],
  ['a comment first', utf8('<!-- saved from --><!--\n--> <html>'), undefined, true],
  [
    'XHTML',
    utf8('<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML">'),
    undefined,
    true,
  ],
  ['a fragment that starts with a tag', utf8('<ul class="toggle"><li>'), undefined, true],
  ['markup with a zero byte in it', utf8('<p>a\0b</p>'), undefined, true],
  ['a fragment that starts with words, by its name', utf8('Hello <b>you</b>'), 'page.HTML', true],
  [
    'a fragment that starts with a long comment, by its name',
    utf8(`<!-- ${'x'.repeat(5000)}`),
    'page.htm',
    true,
  ],
  ['words only, called HTML', utf8('Hello, 3 < 4'), 'page.html', false],
  [
    'words with controls that word processors leave, by their name',
    utf8('a\u000bb\u001bc<br>'),
    'page.html',
    true,
  ],
  ['latin1, by its name', raw('Stra\xdfe<br>'), 'page.html', true],
  ['words only', utf8('Hello <b>you</b>'), 'notes.txt', false],
  ['Markdown', utf8('# Title\n\n<p>'), 'page.md', false],
  ['SVG', utf8('<?xml version="1.0"?><svg xmlns="x">'), 'image.svg', false],
  ['XML', utf8('<?xml version="1.0"?><feed/>'), 'feed.xml', false],
  ['a tag that HTML does not have', utf8('<project>'), undefined, false],
  ['JSON', utf8('{"a":"<p>"}'), 'a.json', false],
  ['PNG called HTML', PNG, 'page.html', false],
  ['PDF called HTML', utf8('%PDF-1.7\n%âãÏÓ\n'), 'page.html', false],
  ['RTF called HTML', utf8('{\\rtf1\\ansi'), 'page.html', false],
  ['PostScript called HTML', utf8('%!PS-Adobe-3.0'), 'page.html', false],
  ['ZIP called HTML', raw('PK\x03\x04\x14\0'), 'page.html', false],
  ['UTF-16 without a mark', utf16le('<html>'), 'page.html', false],
  ['nothing', raw(''), 'page.html', false],
  ['space', utf8('  \n'), 'page.html', false],
]

for (const [name, bytes, fileName, isHtml] of KINDS) {
  test(`${isHtml ? 'HTML' : 'not HTML'}: ${name}`, () =>
    assert.equal(looksLikeHtml(bytes, fileName), isHtml))
}

test('a page that starts with many comments is detected quickly', () => {
  assert.equal(looksLikeHtml(utf8('<!-- -->'.repeat(100_000))), false)
  assert.equal(looksLikeHtml(utf8('<!--'.repeat(100_000))), false)
  assert.equal(decodeHtml(utf8('<meta '.repeat(100_000))).length, 600_000)
})

const END = raw(`PK\x05\x06${'\0'.repeat(18)}`)

/** TABLE: the start of a file, its name, its end, whether it is meant to be a ZIP archive. */
const ZIPS: [
  name: string,
  head: Uint8Array,
  hint: { fileName?: string; tail?: Uint8Array },
  isZip: boolean,
][] = [
  ['an archive', raw('PK\x03\x04\x14\0'), {}, true],
  ['an empty archive', END, {}, true],
  ['an empty archive in ZIP64', raw('PK\x06\x06'), {}, true],
  ['a split archive', raw('PK\x07\x08PK\x03\x04'), {}, true],
  ['a signature called HTML', raw('PK\x03\x04'), { fileName: 'a.html' }, true],
  [
    'junk before an archive',
    Buffer.concat([raw('junkPK\x03\x04'), END]),
    { fileName: 'Export.ZIP' },
    true,
  ],
  [
    'junk before an archive whose end is given',
    raw('junk'),
    { fileName: 'a.zip', tail: END },
    true,
  ],
  [
    'junk before an archive that is called otherwise',
    Buffer.concat([raw('junk'), END]),
    { fileName: 'a.exe' },
    false,
  ],
  ['something called ZIP', utf8('Hello, P and PK'), { fileName: 'a.zip' }, false],
  ['an image called ZIP', PNG, { fileName: 'a.zip' }, false],
  ['two letters', raw('PK'), {}, false],
  ['two letters and something', raw('PK\x01\x02'), {}, false],
  ['nothing', raw(''), { fileName: 'a.zip' }, false],
]

for (const [name, head, hint, isZip] of ZIPS) {
  test(`${isZip ? 'ZIP' : 'not ZIP'}: ${name}`, () => assert.equal(looksLikeZip(head, hint), isZip))
}
