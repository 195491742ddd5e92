import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import {
  envExample,
  environment,
  readConfig,
  unknownSettings,
} from '../../server/config/settings.ts'
import { SetupError } from '../../server/common/errors.ts'
import { temporaryFolder } from '../support/temporary.ts'

test('an empty environment gives the documented defaults', () => {
  const config = readConfig({})
  assert.equal(config.server.port, 8484)
  assert.equal(config.server.host, 'localhost')
  assert.equal(config.storage.data, resolve('data'))
  assert.equal(config.storage.databaseUrl, null)
  assert.equal(config.storage.masterKey, null)
  assert.equal(config.accounts.freeConversions, 10)
  assert.equal(config.conversion.maxHtml, 10 * 1_048_576)
  assert.equal(config.conversion.maxZip, 50 * 1_048_576)
  assert.equal(config.conversion.asyncAbove, 5 * 1_048_576)
  assert.equal(config.conversion.idempotency, 24 * 3_600_000)
  assert.ok(Object.isFrozen(config) && Object.values(config).every((area) => Object.isFrozen(area)))
})

test('an empty variable counts as unset', () => {
  assert.equal(readConfig({ PORT: '', HOST: '  ' }).server.port, 8484)
})

/** TABLE of bad settings: variable, value, and what the sentence must say. */
const BAD: [name: string, value: string, says: RegExp][] = [
  ['PORT', 'http', /^PORT must be a whole number from 0 to 65535, but is "http"\.$/],
  ['PORT', '65536', /^PORT must/],
  ['PORT', '-1', /^PORT must/],
  [
    'TOLLMARK_TRUST_PROXY',
    'constructor',
    /^TOLLMARK_TRUST_PROXY must be true or false, but is "constructor"\.$/,
  ],
  ['TOLLMARK_ROLE', 'boss', /^TOLLMARK_ROLE must be "all" or "web" or "worker", but is "boss"\.$/],
  ['TOLLMARK_MAX_ZIP', 'huge', /^TOLLMARK_MAX_ZIP must be a size such as 512KB/],
  ['TOLLMARK_CONVERSION_HEAP', '1MB', /^TOLLMARK_CONVERSION_HEAP must be a size of 32MB or more/],
  [
    'TOLLMARK_CONVERSION_DEADLINE',
    '3 weeks',
    /^TOLLMARK_CONVERSION_DEADLINE must be a length of time/,
  ],
  ['TOLLMARK_IDLE_TIMEOUT', '0s', /^TOLLMARK_IDLE_TIMEOUT must be a length of time above 0/],
  [
    'TOLLMARK_LEDGER_RETENTION',
    '23h',
    /^TOLLMARK_LEDGER_RETENTION must be a length of time of a day or more/,
  ],
  ['TOLLMARK_PLANS', '{"team":5}', /^TOLLMARK_PLANS must be JSON such as/],
  ['TOLLMARK_PLANS', '{"team":{"conversions_per_day":-1}}', /^TOLLMARK_PLANS must be JSON such as/],
  ['TOLLMARK_PLANS', 'team=5', /^TOLLMARK_PLANS must be JSON such as/],
  [
    'DATABASE_URL',
    'mysql://user:hunter2@db',
    /^DATABASE_URL must be an address that begins with sqlite:/,
  ],
  [
    'DATABASE_URL',
    'sqlite://hunter2.db',
    /^DATABASE_URL must be an address that begins with sqlite:\/\/\/, /,
  ],
  ['DATABASE_URL', 'postgres://user:hunter2@one,two/tollmark', /^DATABASE_URL must .* one host\.$/],
  ['DATABASE_URL', 'postgres://user:hunter2@db/100%', /^DATABASE_URL must be an address/],
  ['TOLLMARK_METRICS_TOKEN', 'hunter2 hunter2', /^TOLLMARK_METRICS_TOKEN must be printable ASCII/],
  ['S3_REGION', 'us east', /^S3_REGION must be one part of a host name, but is "us east"\.$/],
  [
    'OTEL_EXPORTER_OTLP_HEADERS',
    'authorization=hunter2%',
    /^OTEL_EXPORTER_OTLP_HEADERS must be header fields such as/,
  ],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'x-tenant=7,hunter2', /^OTEL_EXPORTER_OTLP_HEADERS must/],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'x tenant=hunter2', /^OTEL_EXPORTER_OTLP_HEADERS must/],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'x-tenant=hunter2%0A', /^OTEL_EXPORTER_OTLP_HEADERS must/],
  [
    'OPENAI_API_KEY',
    'sk-hunter2\nX: y',
    /^OPENAI_API_KEY must be printable ASCII without spaces\.$/,
  ],
  [
    'TOLLMARK_UPSTREAM_OPENAI',
    'http://gateway:hunter2@10.0.0.1',
    /^TOLLMARK_UPSTREAM_OPENAI must be an address .* without a query or a password\.$/,
  ],
  ['TOLLMARK_UPSTREAM_OPENAI', 'http://10.0.0.1/?key=hunter2', /^TOLLMARK_UPSTREAM_OPENAI must/],
  [
    'AZURE_RESOURCE_NAME',
    'acme.example.com',
    /^AZURE_RESOURCE_NAME must be one part of a host name, but is "acme\.example\.com"\.$/,
  ],
  ['TOLLMARK_MASTER_KEY', 'hunter2', /^TOLLMARK_MASTER_KEY must be 32 bytes/],
]

for (const [name, value, says] of BAD) {
  test(`${name}=${value} is refused with one sentence`, () => {
    assert.throws(
      () => readConfig({ [name]: value }),
      (error) =>
        error instanceof SetupError && says.test(error.message) && !/hunter2/.test(error.message),
    )
  })
}

test("an added provider's credential is validated like any other", (t) => {
  const file = join(temporaryFolder(t), 'providers.json')
  // With a byte order mark, as some editors write it.
  writeFileSync(
    file,
    '\uFEFF[{"id":"own","origin":"https://ai.example.com","credential":{"env":"OWN_KEY"}}]',
  )
  const secretOf = (value?: string) =>
    readConfig({ TOLLMARK_PROVIDERS: file, OWN_KEY: value }).customProviders.map(
      ({ secret }) => secret,
    )
  assert.deepEqual([secretOf(), secretOf(' '), secretOf('sk-own\n')], [[null], [null], ['sk-own']])
  assert.throws(() => secretOf('sk-hunter2\r\nX: y'), {
    name: 'SetupError',
    message: 'OWN_KEY must be printable ASCII without spaces.',
  })
})

test('every fault of the providers file gives a sentence', (t) => {
  const file = join(temporaryFolder(t), 'providers.json')
  const entry = { id: 'own', orgin: 'https://ai.example.com', auth: { header: 5 } }
  const endpoints = [{ on: 'POST /v1/say', model: 'bdy' }]
  writeFileSync(file, JSON.stringify([{ ...entry, endpoints }]))
  assert.throws(() => readConfig({ TOLLMARK_PROVIDERS: file }), {
    name: 'SetupError',
    message: [
      '0.origin: is missing.',
      '0.auth.header: must be of the type string.',
      '0.endpoints.0.model: must have one of the forms in docs/proxy.md.',
      '0: unknown field "orgin".',
    ]
      .map((fault) => `${file} (TOLLMARK_PROVIDERS): ${fault}`)
      .join('\n'),
  })
})

test('every bad setting is reported at once', () => {
  assert.throws(
    () => readConfig(Object.fromEntries(BAD.map(([name, value]) => [name, value]))),
    (error) => {
      assert.ok(error instanceof SetupError)
      assert.equal(error.message.split('\n').length, new Set(BAD.map(([name]) => name)).size)
      return true
    },
  )
})

test('a byte order mark does not hide the first setting of a .env', (t) => {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, '.env'), '\ufeffTOLLMARK_FIRST=1\r\nTOLLMARK_SECOND=2\r\n')
  const { TOLLMARK_FIRST, TOLLMARK_SECOND } = environment(folder)
  assert.deepEqual([TOLLMARK_FIRST, TOLLMARK_SECOND], ['1', '2'])
})

for (const line of ['PORT: 33', 'PORT 33', 'export PORT 33', 'PORT', 'PORT:33 # HOST=x'])
  test(`a .env with the line ${line} is refused, because it assigns nothing`, (t) => {
    const folder = temporaryFolder(t)
    writeFileSync(join(folder, '.env'), `HOST=127.0.0.1\n${line}\n`)
    assert.throws(
      () => environment(folder),
      /\.env, line 2: write PORT=value, with an equals sign\./,
    )
  })

test('a .env may have spaces, comments, quotes and empty settings', (t) => {
  const folder = temporaryFolder(t)
  const text =
    '# PORT 33\nPORT = 33\nexport HOST=::1\nTOLLMARK_PLANS=\'{\n"PORT": 1}\'\nDATABASE_URL=\n'
  writeFileSync(join(folder, '.env'), text)
  const { PORT, HOST, TOLLMARK_PLANS } = environment(folder)
  assert.deepEqual([PORT, HOST, TOLLMARK_PLANS], ['33', '::1', '{\n"PORT": 1}'])
})

test('a duration never exceeds the timer limit, because a longer one would fire immediately', () => {
  const { server, conversion } = readConfig({
    TOLLMARK_SHUTDOWN_TIMEOUT: '30d',
    TOLLMARK_RESULT_RETENTION: '30d',
  })
  assert.deepEqual([server.shutdownTimeout, conversion.retention], [2 ** 31 - 1, 30 * 86_400_000])
})

test('a very long retention is capped to a valid date', () => {
  const { retention } = readConfig({ TOLLMARK_RESULT_RETENTION: '99999999d' }).conversion
  assert.match(new Date(Date.UTC(2030, 0) + retention).toISOString(), /^21/)
})

test('a master key is read from base64 and from hexadecimal', () => {
  const key = Buffer.alloc(32, 0xfb)
  for (const text of [key.toString('base64'), key.toString('base64url'), key.toString('hex')]) {
    assert.deepEqual(readConfig({ TOLLMARK_MASTER_KEY: text }).storage.masterKey, key)
  }
})

test('headers for a collector are read and percent-decoded', () => {
  const { otlpHeaders } = readConfig({
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a=b, x-tenant = 7,',
  }).watch
  assert.deepEqual(otlpHeaders, { authorization: 'Bearer a=b', 'x-tenant': '7' })
})

test('plans are read, with null for no limit', () => {
  const { plans } = readConfig({
    TOLLMARK_PLANS: '{"team":{"conversions_per_day":1000},"all":{"conversions_per_day":null}}',
  }).accounts
  assert.deepEqual(plans, {
    team: { conversions_per_day: 1000 },
    all: { conversions_per_day: null },
  })
})

test('an unknown variable that looks like ours is reported', () => {
  const mistyped = { name: 'TOLLMARK_DTAA', did_you_mean: 'TOLLMARK_DATA' }
  assert.deepEqual(
    unknownSettings({ TOLLMARK_DTAA: 'x', TOLLMARK_DATA: 'x', HOME: 'x', TOLLMARK_NONSENSE: '' }),
    [mistyped, { name: 'TOLLMARK_NONSENSE' }],
  )
  assert.deepEqual(unknownSettings({ TOLLMARK_PORT: '80', TOLLMARK_OPENAI_API_KEY: 'x' }), [
    { name: 'TOLLMARK_PORT', did_you_mean: 'PORT' },
    { name: 'TOLLMARK_OPENAI_API_KEY', did_you_mean: 'OPENAI_API_KEY' },
  ])
  const added = [
    {
      id: 'own',
      origin: 'https://ai.example.com',
      credential: { env: 'TOLLMARK_OWN_KEY' },
      secret: 'x',
    },
  ]
  assert.deepEqual(unknownSettings({ TOLLMARK_DTAA: 'x', TOLLMARK_OWN_KEY: 'x' }, added), [
    mistyped,
  ])
})

test('.env.example is in step with the table (UPDATE=1 writes it)', () => {
  const file = join(import.meta.dirname, '../../.env.example')
  if (process.env['UPDATE']) writeFileSync(file, envExample())
  assert.equal(readFileSync(file, 'utf8'), envExample())
})
