import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { createProviderTable } from '../../server/proxy/providers/table.ts'
import { createRouteCache } from '../../server/proxy/find-route.ts'
import { readTarget, type Target } from '../../server/proxy/parse-target.ts'
import { createSecret } from '../../server/common/issued-secrets.ts'

const enc = encodeURIComponent
const GEMINI = 'https://generativelanguage.googleapis.com/v1beta/models/gemini-x:generateContent'

/** The target of the first form. */
const parameter = (search: string): string => `/proxy?${search}`

/**
 * The same address as a base URL names it, as it stands; null where it has no host to begin with.
 */
function baseUrl(search: string): string | null {
  const raw = /^url=([^]*)$/.exec(search)?.[1] ?? ''
  const address = /%(?:FF|C0%AF|ED%A0%80|2)$/.test(raw) ? raw : decodeURIComponent(raw)
  return address.startsWith('https://') ? `/proxy/${address.slice('https://'.length)}` : null
}

/** What a target means, but for the keys in its query. */
function meaning(target: Target): unknown {
  if (!target.ok) return target
  const { queryCredentials: _, ...upstream } = target.upstream
  return { ok: true, upstream }
}

/** search → hostname, port, path and query that will be sent */
const accepted: [
  name: string,
  search: string,
  hostname: string,
  port: number,
  pathAndQuery: string,
][] = [
  [
    'encoded',
    `url=${enc(GEMINI)}`,
    'generativelanguage.googleapis.com',
    443,
    '/v1beta/models/gemini-x:generateContent',
  ],
  [
    'plain',
    `url=${GEMINI}`,
    'generativelanguage.googleapis.com',
    443,
    '/v1beta/models/gemini-x:generateContent',
  ],
  [
    'plain with a query of its own',
    `url=https://a.test/v1beta/models/g:streamGenerateContent?alt=sse`,
    'a.test',
    443,
    '/v1beta/models/g:streamGenerateContent?alt=sse',
  ],
  [
    'encoded with & in it',
    `url=${enc('https://a.test/x?alt=sse&pageSize=2')}`,
    'a.test',
    443,
    '/x?alt=sse&pageSize=2',
  ],
  ['half encoded', 'url=https%3A//a.test/x%3Falt=sse', 'a.test', 443, '/x?alt=sse'],
  ['+ stays +', `url=${enc('https://a.test/x?q=a+b')}`, 'a.test', 443, '/x?q=a+b'],
  ['plain + stays +', 'url=https://a.test/a+b?q=c+d', 'a.test', 443, '/a+b?q=c+d'],
  [
    'upper-case host',
    `url=${enc('https://API.OpenAI.com/v1/models')}`,
    'api.openai.com',
    443,
    '/v1/models',
  ],
  ['explicit default port', `url=${enc('https://a.test:443/x')}`, 'a.test', 443, '/x'],
  ['other port', `url=${enc('https://a.test:8443/x')}`, 'a.test', 8443, '/x'],
  ['the root', 'url=https://a.test/', 'a.test', 443, '/'],
  [
    'encoded parts of the upstream stay encoded',
    `url=${enc('https://a.test/model/a%3Ab%2Fc/converse?filter=x%26y%3D1')}`,
    'a.test',
    443,
    '/model/a%3Ab%2Fc/converse?filter=x%26y%3D1',
  ],
  ['case of the path stays', `url=${enc('https://a.test/V1/Chat')}`, 'a.test', 443, '/V1/Chat'],
  [
    'beyond ASCII is encoded as every URL parser does',
    `url=${enc('https://a.test/files/é?q=日')}`,
    'a.test',
    443,
    '/files/%C3%A9?q=%E6%97%A5',
  ],
  ['international host', `url=${enc('https://bücher.test/x')}`, 'xn--bcher-kva.test', 443, '/x'],
  ['trailing dot is another host', 'url=https://api.openai.com./v1', 'api.openai.com.', 443, '/v1'],
  ['IPv6', `url=${enc('https://[::1]:9000/x')}`, '[::1]', 9000, '/x'],
  ['number as a host', 'url=https://2130706433/x', '127.0.0.1', 443, '/x'],
  ['hexadecimal host', 'url=https://0x7f.1/x', '127.0.0.1', 443, '/x'],
  [
    'double slash in the path stays for the classifier to judge',
    'url=https://a.test//v1',
    'a.test',
    443,
    '//v1',
  ],
  [
    'dots in the path stay for the classifier to judge',
    'url=https://a.test/a/../b',
    'a.test',
    443,
    '/a/../b',
  ],
  ['a question mark in the query', 'url=https://a.test/x?a=b?c', 'a.test', 443, '/x?a=b?c'],
  [
    'an address inside the query',
    `url=${enc('https://a.test/x?next=https://b.test/y@z')}`,
    'a.test',
    443,
    '/x?next=https://b.test/y@z',
  ],
  [
    'key is stripped',
    `url=${enc('https://a.test/x?key=AIza&alt=sse')}`,
    'a.test',
    443,
    '/x?alt=sse',
  ],
  [
    'key alone leaves no question mark',
    `url=${enc('https://a.test/x?key=AIza')}`,
    'a.test',
    443,
    '/x',
  ],
  ['plain ?key=', 'url=https://a.test/x?key=AIza', 'a.test', 443, '/x'],
  [
    'access_token is stripped',
    `url=${enc('https://a.test/x?a=1&access_token=t&b=2')}`,
    'a.test',
    443,
    '/x?a=1&b=2',
  ],
  ['every key is stripped', `url=${enc('https://a.test/x?key=1&key=2')}`, 'a.test', 443, '/x'],
  [
    'encoded key is stripped',
    `url=${enc('https://a.test/x?%6Bey=1&k%65y=2&a=1')}`,
    'a.test',
    443,
    '/x?a=1',
  ],
  [
    'twice encoded key is stripped',
    `url=${enc('https://a.test/x?%256Bey=1&a=1')}`,
    'a.test',
    443,
    '/x?a=1',
  ],
  [
    'upper-case key is stripped',
    `url=${enc('https://a.test/x?KEY=1&a=1')}`,
    'a.test',
    443,
    '/x?a=1',
  ],
  [
    'key without a value is stripped',
    `url=${enc('https://a.test/x?key&a=1')}`,
    'a.test',
    443,
    '/x?a=1',
  ],
  [
    '$ parameters are stripped',
    `url=${enc('https://a.test/x?$alt=proto&%24httpMethod=DELETE&alt=sse')}`,
    'a.test',
    443,
    '/x?alt=sse',
  ],
  [
    'keys, monkey and keyword stay',
    `url=${enc('https://a.test/x?keys=1&monkey=2&keyword=3')}`,
    'a.test',
    443,
    '/x?keys=1&monkey=2&keyword=3',
  ],
  [
    'every key of any provider is stripped',
    `url=${enc('https://a.test/x?oauth_token=1&api_key=2&Api-Key=3&subscription-key=4&access_token=5&a=1')}`,
    'a.test',
    443,
    '/x?a=1',
  ],
  ['a question mark with nothing behind it stays', 'url=https://a.test/x?', 'a.test', 443, '/x?'],
  [
    'every character that a path and a query may hold',
    `url=${enc("https://a.test/-._~!$&'()*+,;=:@/?!$&'()*+,;=:@/?-._~[]^`{|}")}`,
    'a.test',
    443,
    "/-._~!$&'()*+,;=:@/?!$&'()*+,;=:@/?-._~[]^`{|}",
  ],
  ['the last port', 'url=https://a.test:65535/', 'a.test', 65_535, '/'],
  [
    'what only begins as a proxy key',
    `url=${enc('https://a.test/tmk_models/x?q=tmk_a_b')}`,
    'a.test',
    443,
    '/tmk_models/x?q=tmk_a_b',
  ],
  [
    'a proxy key where credentials stand is stripped',
    `url=${enc(`https://a.test/x?key=${createSecret('tmk').secret}&a=1`)}`,
    'a.test',
    443,
    '/x?a=1',
  ],
  [
    'an apostrophe in the query',
    `url=${enc("https://a.test/x?filter=a='b'")}`,
    'a.test',
    443,
    "/x?filter=a='b'",
  ],
]

/** Not a base URL: it has a path, and is ASCII. */
const NO_BASE_URL = new Set([
  'no path',
  'no path but a query',
  'beyond ASCII is encoded as every URL parser does',
  'international host',
])

for (const [name, search, hostname, port, pathAndQuery] of accepted) {
  test(`accepted: ${name}`, () => {
    const expected = { ok: true, upstream: { protocol: 'https:', hostname, port, pathAndQuery } }
    assert.deepEqual(meaning(readTarget(parameter(search))), expected)
    const target = baseUrl(search)
    assert.ok(target)
    if (NO_BASE_URL.has(name)) assert.equal(readTarget(target).ok, false)
    else assert.deepEqual(meaning(readTarget(target)), expected, target)
  })
}

const KEY = createSecret('tmk').secret

/** search → a word of the sentence */
const refused: [name: string, search: string, word: RegExp][] = [
  ['nothing', '', /missing/],
  ['no path', 'url=https://a.test', /no path/],
  ['no path but a query', 'url=https://a.test?x=1', /no path/],
  ['no url', 'x=1', /missing/],
  ['empty url', 'url=', /https/],
  ['url without =', 'url', /missing/],
  ['two urls', `url=${enc(GEMINI)}&url=${enc(GEMINI)}`, /more than one/],
  [
    'two urls, the second behind another parameter',
    'url=https://a.test/?x=1&url=https://b.test/',
    /more than one/,
  ],
  ['upper-case URL', 'URL=https://a.test/', /missing/],
  ['encoded name', '%75rl=https://a.test/', /missing/],
  ['url[]', 'url[]=https://a.test/', /missing/],
  ['another parameter in front', `x=1&url=${enc(GEMINI)}`, /Only/],
  ['another parameter behind', `url=${enc(GEMINI)}&alt=sse`, /%26/],
  ['an & that was not encoded', 'url=https://a.test/x?alt=sse&key=AIza', /%26/],
  ['a trailing &', 'url=https://a.test/x?a=1&', /%26/],
  ['an encoded second name', 'url=https://a.test/x&%75rl=https://b.test/', /Only/],
  ['http', `url=${enc('http://a.test/x')}`, /https/],
  ['HTTPS in capitals', `url=${enc('HTTPS://a.test/x')}`, /https/],
  ['no scheme', 'url=a.test/x', /https/],
  ['protocol-relative', 'url=//a.test/x', /https/],
  ['ftp', 'url=ftp://a.test/x', /https/],
  ['file', 'url=file:///etc/passwd', /https/],
  ['javascript', 'url=javascript:alert(1)', /https/],
  ['data', 'url=data:,x', /https/],
  ['wss', 'url=wss://api.openai.com/v1/realtime', /https/],
  ['one slash', 'url=https:/a.test/x', /https/],
  ['no slashes', 'url=https:a.test/x', /https/],
  ['three slashes', 'url=https:///a.test/x', /host/],
  ['backslashes', `url=${enc('https:\\\\a.test\\x')}`, /https/],
  ['leading space', `url=${enc(' https://a.test/')}`, /https/],
  ['twice encoded', `url=${enc(enc(GEMINI))}`, /https/],
  ['twice encoded behind the scheme', `url=https://${enc('a.test%2Fx')}`, /percent-encoded/],
  ['space in the path', `url=${enc('https://a.test/a b')}`, /space/],
  ['space as %20 of the target', 'url=https://a.test/a%20b', /space/],
  ['tab', `url=${enc('https://a.test/a\tb')}`, /control/],
  ['line feed', `url=${enc('https://a.test/a\nb')}`, /control/],
  ['carriage return', `url=${enc('https://a.test/x\r\nHost: b.test')}`, /control/],
  ['NUL', `url=${enc('https://a.test/\0')}`, /control/],
  ['delete', `url=${enc('https://a.test/\u007f')}`, /control/],
  ['C1 control', `url=${enc('https://a.test/\u0085')}`, /control/],
  ['raw non-ASCII', 'url=https://a.test/é', /raw non-ASCII/],
  ['raw space', 'url=https://a.test/ x', /space/],
  ['no-break space', `url=${enc('https://a.test/\u00a0')}`, /space/],
  ['backslash in the path', `url=${enc('https://a.test/x\\y')}`, /backslash/],
  ['backslash before the host', `url=${enc('https://a.test\\@b.test/')}`, /backslash/],
  ['user', `url=${enc('https://u@a.test/')}`, /user/],
  ['user and password', `url=${enc('https://u:p@a.test/')}`, /user/],
  ['empty user', `url=${enc('https://@a.test/')}`, /user/],
  ['provider as the user', `url=${enc('https://api.openai.com@evil.test/v1')}`, /user/],
  [
    'provider and port as the user',
    `url=${enc('https://api.openai.com:443@evil.test/v1')}`,
    /user/,
  ],
  ['encoded @', `url=${enc('https://api.openai.com%40evil.test/v1')}`, /percent-encoded/],
  ['fragment', `url=${enc('https://a.test/x#y')}`, /fragment/],
  ['fragment before the host ends', `url=${enc('https://a.test#@b.test/')}`, /fragment/],
  ['raw #', 'url=https://a.test/x#y', /fragment/],
  ['encoded slash in the host', `url=${enc('https://a.test%2F.b.test/')}`, /percent-encoded/],
  ['encoded dot in the host', `url=${enc('https://api%2Eopenai.com/')}`, /percent-encoded/],
  ['empty host', 'url=https:///', /host/],
  ['only a port', 'url=https://:443/', /host/],
  ['empty port', 'url=https://a.test:/', /host/],
  ['port zero', 'url=https://a.test:0/', /host/],
  ['port with a leading zero', 'url=https://a.test:0443/', /host/],
  ['port with a sign', 'url=https://a.test:+443/', /host/],
  ['port too large', 'url=https://a.test:65536/', /port/],
  ['port not a number', 'url=https://a.test:https/', /host/],
  ['two ports', 'url=https://a.test:443:443/', /host/],
  ['broken IPv6', 'url=https://[::1/', /host/],
  ['IPv6 zone', `url=${enc('https://[fe80::1%25eth0]/')}`, /percent-encoded/],
  ['wildcard host', 'url=https://*.openai.com/|', /path/],
  ['broken percent-encoding of the target', 'url=https%3A%2F%2Fa.test%2', /percent-encoding/],
  ['percent-encoding that is not UTF-8', 'url=https://a.test/%FF', /percent-encoding/],
  ['overlong UTF-8', 'url=https://a.test/%C0%AF', /percent-encoding/],
  ['lone surrogate in UTF-8', 'url=https://a.test/%ED%A0%80', /percent-encoding/],
  ['a lone %', `url=${enc('https://a.test/100%')}`, /%25/],
  ['a lone % in the query', `url=${enc('https://a.test/x?q=100%')}`, /%25/],
  ['plain address with an encoded %', 'url=https://a.test/x?q=100%25', /%25/],
  ['encoded dots', `url=${enc('https://a.test/a/%2e%2e/b')}`, /second time/],
  ['half-encoded dots', `url=${enc('https://a.test/a/.%2E/b')}`, /second time/],
  ['one encoded dot', `url=${enc('https://a.test/a/%2e/b')}`, /second time/],
  [
    'dots behind an encoded slash',
    `url=${enc('https://a.test/models/a%2F..%2Fb:generateContent')}`,
    /second time/,
  ],
  ['encoded backslash', `url=${enc('https://a.test/a%5Cb')}`, /second time/],
  ['encoded question mark', `url=${enc('https://a.test/a%3Fkey=1')}`, /second time/],
  ['encoded fragment', `url=${enc('https://a.test/a%23b')}`, /second time/],
  ['encoded NUL', `url=${enc('https://a.test/a%00b')}`, /second time/],
  ['encoded line feed', `url=${enc('https://a.test/a%0Ab')}`, /second time/],
  ['twice encoded slash', `url=${enc('https://a.test/a%252Fb')}`, /second time/],
  ['twice encoded dots', `url=${enc('https://a.test/%252e%252e/b')}`, /second time/],
  ['encoded double slash', `url=${enc('https://a.test/a%2F%2Fb')}`, /second time/],
  ['bytes that are not UTF-8 in the path', `url=${enc('https://a.test/%FF')}`, /second time/],
  ['angle brackets', `url=${enc('https://a.test/<x>')}`, /path/],
  ['quotes in the query', `url=${enc('https://a.test/?q="x"')}`, /query/],
  ['braces in the path', `url=${enc('https://a.test/{x}')}`, /path/],
  ['a proxy key in the query', `url=${enc(`https://a.test/x?q=${KEY}`)}`, /proxy key/],
  [
    'a proxy key in the query, encoded',
    `url=${enc(`https://a.test/x?q=a%20${KEY.replace('_', '%5F')}`)}`,
    /proxy key/,
  ],
  [
    'a proxy key in the query, encoded twice',
    `url=${enc(`https://a.test/x?q=${KEY.replace('_', '%255f')}`)}`,
    /proxy key/,
  ],
  ['a proxy key as a name in the query', `url=${enc(`https://a.test/x?${KEY}`)}`, /proxy key/],
  [
    'a token in the query',
    `url=${enc(`https://a.test/x?q=${KEY.replace('tmk', 'tmt')}`)}`,
    /token/,
  ],
  ['a proxy key in the path', `url=${enc(`https://a.test/x/${KEY}/y`)}`, /proxy key/],
  [
    'a proxy key in the path, encoded',
    `url=${enc(`https://a.test/x/tmk%5f${KEY.slice(4)}`)}`,
    /proxy key/,
  ],
  ['too long', `url=https://a.test/${'a'.repeat(20_000)}`, /longer/],
  ['a path of 2,049 characters', `url=https://a.test/${'a'.repeat(2_048)}`, /2048 characters/],
  ['a path of 65 segments', `url=https://a.test${'/a'.repeat(65)}`, /64 segments/],
  ['257 parameters', `url=https://a.test/?${'a=b%26'.repeat(256)}a=b`, /256 parameters/],
  ['257 parameters, parted by ;', `url=https://a.test/?${'a=b;'.repeat(256)}a=b`, /parameters/],
]

for (const [name, search, word] of refused) {
  test(`refused: ${name}`, () => {
    const target = readTarget(parameter(search))
    assert.equal(target.ok, false)
    assert.match('message' in target ? target.message : '', word)
    const same = baseUrl(search)
    if (same !== null && !search.includes('&')) assert.equal(readTarget(same).ok, false, same)
  })
}

test('targets without an address, and what each part means', () => {
  /** TABLE: target → host and path; null where it is refused. */
  const cases: [target: string, named: string | null][] = [
    ['/proxy', null],
    ['/proxy/', null],
    ['/proxy?', null],
    ['/proxy//', null],
    ['/proxy/?url=https://a.test/', null],
    ['/proxy/a.test', null],
    ['/proxy/a.test?url=https://b.test/x', null],
    ['/proxy/%61.test/x', null],
    ['/proxy//a.test/x', null],
    ['/proxy/https://a.test/x', null],
    ['/proxy/https%3A%2F%2Fa.test/x', null],
    ['/proxy/.a.test/x', '.a.test /x'],
    ['/proxy/u@a.test/x', null],
    ['/proxy/a.test\\b/x', null],
    ['/proxy/a.test/x#y', null],
    ['/proxy/a.test/%2e%2e/x', null],
    ['/proxy/a.test/x%00', null],
    ['/proxy/a.test/', 'a.test /'],
    ['/proxy/a.test/?x=1', 'a.test /?x=1'],
    ['/proxy/a.test//x', 'a.test //x'],
    ['/proxy/a.test/../x', 'a.test /../x'],
    ['/proxy/a.test/x%2Fy', 'a.test /x%2Fy'],
    ['/proxy/a.test/x?url=https://b.test/y&url=z', 'a.test /x?url=https://b.test/y&url=z'],
    ['/proxy/A.Test:8443/x', 'a.test:8443 /x'],
    ['/proxy/a.test/proxy?url=https://b.test/', 'a.test /proxy?url=https://b.test/'],
    ['/proxy/a.test/x?a=1&&b=&c', 'a.test /x?a=1&&b=&c'],
    ['/proxy/a.test/proxy/b.test/x', 'a.test /proxy/b.test/x'],
    ['http://localhost:8484/proxy/a.test/x', 'a.test /x'],
    ['https://x/proxy?url=https://a.test/x', 'a.test /x'],
    ['http://localhost/proxy', null],
  ]
  for (const [target, named] of cases) {
    const found = readTarget(target)
    assert.equal(
      found.ok
        ? `${found.upstream.hostname}${found.upstream.port === 443 ? '' : `:${found.upstream.port}`} ${found.upstream.pathAndQuery}`
        : null,
      named,
      target,
    )
  }
})

test('a credential parameter is kept so that a proxy key can be found in it', () => {
  const { secret } = createSecret('tmk')
  const query = `%6Bey=${secret.replaceAll('_', '%5F')}&a=1&KEY=other&access_token=x`
  for (const target of [
    `/proxy/a.test/x?${query}`,
    `/proxy?url=${enc(`https://a.test/x?${query}`)}`,
  ]) {
    const found = readTarget(target)
    assert.ok(found.ok)
    assert.deepEqual(
      [found.upstream.queryCredentials, found.upstream.pathAndQuery],
      [
        [
          { name: 'key', value: secret },
          { name: 'key', value: 'other' },
          { name: 'access_token', value: 'x' },
        ],
        '/x?a=1',
      ],
    )
  }
})

test("fal's header names the target only if the target itself names none", () => {
  const routes = createRouteCache({ table })
  const named = (target: string, ...values: string[]) => {
    const headers = values.flatMap((value) => ['X-Fal-Target-Url', value])
    return routes.find({ method: 'POST', target, headers }).target
  }
  const address = 'https://queue.fal.run/fal-ai/x?a=%26&b=1'
  for (const target of ['/proxy', '/proxy/', '/proxy?']) {
    assert.deepEqual(named(target, address), readTarget(`/proxy?url=${enc(address)}`))
    assert.equal(named(target, address, address).ok, false)
    assert.equal(named(target, 'https://queue.fal.run/\u00e9').ok, false)
    assert.equal(named(target).ok, false)
  }
  for (const target of ['/proxy?url=https://a.test/x', '/proxy/a.test/x', '/proxy/a.test'])
    assert.deepEqual(named(target, address), readTarget(target))
})

test('both forms of an address lead to the same upstream and the same error format', () => {
  const routes = createRouteCache({ table })
  for (const [host, id] of [
    ['api.anthropic.com', 'anthropic'],
    ['api.anthropic.com:443', 'anthropic'],
    ['API.ANTHROPIC.COM', 'anthropic'],
    ['console.anthropic.com', 'anthropic'],
    ['elsewhere.example', undefined],
  ] as const) {
    const [first, second] = [
      `/proxy?url=https://${host}/v1/messages`,
      `/proxy/${host}/v1/messages`,
    ].map((target) => routes.find({ method: 'POST', target, headers: [] }))
    assert.deepEqual([first?.errorStyle?.id, second?.errorStyle?.id], [id, id], host)
    assert.equal(first?.upstream, second?.upstream, host)
    assert.deepEqual([first?.form, second?.form], ['parameter', 'base-url'])
  }
})

const table = createProviderTable({
  instances: [{ provider: 'azure', values: { resource: 'acme' } }],
})
const pieces = fc.constantFrom(
  'https://',
  'https:',
  'http://',
  '//',
  '/',
  '\\',
  '@',
  ':',
  '#',
  '?',
  '&',
  '%',
  '%2f',
  '%40',
  '%00',
  '%2e',
  '..',
  '.',
  'api.openai.com',
  'evil.test',
  'API.OPENAI.COM',
  'generativelanguage.googleapis.com',
  '443',
  '80',
  ' ',
  '\t',
  '\n',
  'é',
  '。',
  '．',
  'ａ',
  '[',
  ']',
  '::1',
  'key=x',
  'url=',
  '+',
  ';',
  '\u200b',
  '\u00ad',
  '127.1',
  '0x7f',
)

test('an accepted target is what a URL parser sees, and only hosts of the table match', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(pieces, fc.string({ maxLength: 4 })), { maxLength: 12 }),
      fc.boolean(),
      (parts, encode) => {
        const address = `https://${parts.join('')}`.toWellFormed()
        const target = readTarget(parameter(`url=${encode ? enc(address) : address}`))
        if (!target.ok) return
        const { hostname, port, pathAndQuery } = target.upstream
        const url = new URL(encode ? address : decodeURIComponent(address))
        assert.equal(url.hostname, hostname)
        assert.equal(url.port === '' ? 443 : Number(url.port), port)
        assert.equal(url.username + url.password + url.hash, '')
        if (!/(^|\/)\.{1,2}(\/|$)/.test(pathAndQuery.split('?')[0] ?? ''))
          assert.equal(url.pathname, pathAndQuery.split('?')[0])
        assert.match(pathAndQuery, /^\/[!-~]*$/)
        const same =
          /^https:\/\/[^/?]+\//.test(url.href) &&
          readTarget(`/proxy/${hostname}:${port}${pathAndQuery}`)
        if (same !== false) assert.deepEqual(meaning(same), meaning(target))
        const found = table.find(hostname, port)
        if (found) assert.equal(new URL(found.origin).hostname, url.hostname)
      },
    ),
    { numRuns: 3_000 },
  )
})

test('an address of a provider survives encoding byte for byte', () => {
  const segment = fc
    .stringMatching(/^[A-Za-z0-9._~:@!$()*,=-]{1,12}$/)
    .filter((text) => !/^\.+$/.test(text))
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 5 }), (segments) => {
      const path = `/${segments.join('/')}`
      for (const named of [
        parameter(`url=${enc(`https://api.openai.com${path}`)}`),
        `/proxy/api.openai.com${path}`,
      ]) {
        const target = readTarget(named)
        assert.ok(target.ok)
        assert.equal(target.upstream.pathAndQuery, path)
      }
    }),
  )
})
