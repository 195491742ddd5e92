// Whom a header proves: step 2 of pipeline.ts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authenticate, normalizeOrigin } from '../../server/keys/authenticate.ts'
import type { CachedKey, CachedSecret, KeyCache } from '../../server/keys/cache.ts'
import { compileScope } from '../../server/keys/scope.ts'
import { createSecret } from '../../server/common/issued-secrets.ts'

const NOW = 1_000_000
const KEY: CachedKey = {
  id: 'key_1',
  child: null,
  accountId: 'acc_1',
  scope: compileScope(null),
  rpm: null,
  allowedOrigins: null,
  objects: 'own',
  providers: null,
  readOnly: false,
  shared: new Set<string>(),
  expiresAt: null,
  disabled: false,
  revoked: false,
}

/** A cache of one key, with its secret, and how many look-ups it has seen. */
function holding(more: Partial<CachedKey> = {}, expiresAt: number | null = null) {
  const { secret, publicId, hash } = createSecret('tmk')
  const secrets = new Map<string, CachedSecret>()
  const hold = (changed: Partial<CachedKey>) =>
    void secrets.set(publicId, {
      hash: Buffer.from(hash, 'hex'),
      expiresAt,
      key: { ...KEY, ...more, ...changed },
    })
  hold({})
  let looks = 0
  const find = (id: string) => {
    looks++
    return secrets.get(id)
  }
  const keys: KeyCache = {
    find,
    isDisabled: (id) => id === 'acc_off',
    heldBy: () => 0,
    refresh: () => Promise.resolve(),
    fresh: true,
    [Symbol.dispose]: () => {},
  }
  return { keys, secret, hold, gone: () => secrets.clear(), looks: () => looks }
}

const codeOf = (...call: Parameters<typeof authenticate>) => {
  const proof = authenticate(...call)
  return proof.ok ? proof.key.id : proof.code
}

test('a key is presented alone or after a scheme', () => {
  const { keys, secret } = holding()
  const cases: [header: string | undefined, opens: boolean][] = [
    [`Bearer ${secret}`, true],
    [`bearer ${secret}`, true],
    [`BEARER   ${secret}  `, true],
    [`Key ${secret}`, true],
    [`Token ${secret}`, true],
    [secret, true],
    [undefined, false],
    ['', false],
    [` ${secret}`, false],
    [`Bearer${secret}`, false],
    [` Bearer ${secret}`, false],
    [`Token Bearer ${secret}`, false],
    [`Bearer ${secret} x`, false],
    [`Bearer ${secret}, Bearer ${secret}`, false],
    [`Basic ${secret}`, false],
    ['Bearer', false],
    [`Bearer ${secret.toLowerCase()}`, false],
    [`Bearer ${secret.slice(0, -1)}`, false],
    [`Bearer ${createSecret('tmt').secret}`, false],
    [`Bearer ${createSecret('tmk').secret}`, false],
  ]
  for (const [header, opens] of cases)
    assert.equal(codeOf(keys, header, undefined, NOW), opens ? 'key_1' : 'invalid_api_key', header)
})

test('only a well-formed key costs a lookup, and half a key reveals nothing', () => {
  const { keys, looks } = holding({ disabled: true })
  for (const text of ['tmk_x', 'x'.repeat(60), createSecret('tms').secret])
    assert.equal(codeOf(keys, `Bearer ${text}`, undefined, NOW), 'invalid_api_key')
  assert.equal(looks(), 0)
  const { keys: known } = holding({ disabled: true })
  const other = createSecret('tmk')
  // The public id of a key, with another secret behind it.
  assert.equal(
    codeOf(
      {
        ...known,
        find: () => ({ hash: Buffer.alloc(32), expiresAt: null, key: { ...KEY, disabled: true } }),
      },
      `Bearer ${other.secret}`,
      undefined,
      NOW,
    ),
    'invalid_api_key',
  )
})

test("a key's state decides, to the millisecond", () => {
  const cases: [
    more: Partial<CachedKey>,
    secretEnds: number | null,
    origin: string | undefined,
    expected: string,
  ][] = [
    [{}, null, 'https://any.test', 'key_1'],
    [{ revoked: true }, null, undefined, 'invalid_api_key'],
    [{ revoked: true, disabled: true, expiresAt: 1 }, 1, undefined, 'invalid_api_key'],
    [{ disabled: true }, null, undefined, 'api_key_disabled'],
    [{ accountId: 'acc_off' }, null, undefined, 'api_key_disabled'],
    [{ disabled: true, expiresAt: 1 }, null, undefined, 'api_key_disabled'],
    [{ expiresAt: NOW }, null, undefined, 'api_key_expired'],
    [{ expiresAt: NOW + 1 }, null, undefined, 'key_1'],
    [{}, NOW, undefined, 'api_key_expired'],
    [{}, NOW + 1, undefined, 'key_1'],
    [{ allowedOrigins: new Set(['https://app.test']) }, null, 'https://app.test', 'key_1'],
    [{ allowedOrigins: new Set(['https://app.test']) }, null, 'HTTPS://App.test', 'key_1'],
    [
      { allowedOrigins: new Set(['https://app.test']) },
      null,
      'https://app.test.evil.test',
      'origin_not_allowed',
    ],
    [{ allowedOrigins: new Set(['https://app.test']) }, null, undefined, 'origin_not_allowed'],
    [{ allowedOrigins: new Set() }, null, 'https://app.test', 'origin_not_allowed'],
  ]
  for (const [more, secretEnds, origin, expected] of cases) {
    const { keys, secret } = holding(more, secretEnds)
    // The second time it has been proven.
    for (const time of [1, 2])
      assert.equal(
        codeOf(keys, `Bearer ${secret}`, origin, NOW),
        expected,
        `${JSON.stringify(more)} ${time}`,
      )
  }
})

test('an authenticated key is checked again after a change, even by another process', () => {
  const { keys, secret, hold, gone } = holding()
  const code = () => codeOf(keys, `Bearer ${secret}`, undefined, NOW)
  assert.equal(code(), 'key_1')
  hold({ disabled: true })
  assert.equal(code(), 'api_key_disabled')
  hold({ revoked: true })
  assert.equal(code(), 'invalid_api_key')
  hold({})
  assert.equal(code(), 'key_1')
  assert.equal(codeOf(holding().keys, `Bearer ${secret}`, undefined, NOW), 'invalid_api_key')
  gone()
  assert.equal(code(), 'invalid_api_key')
})

test('origins are normalised before they are compared', () => {
  const cases: [text: string, origin: string | null][] = [
    ['app.example.com', 'https://app.example.com'],
    ['App.Example.com:8443/', 'https://app.example.com:8443'],
    ['localhost:3000', 'http://localhost:3000'],
    ['127.0.0.1:5173', 'http://127.0.0.1:5173'],
    ['intranet:8080', 'https://intranet:8080'],
    ['nowhere', null],
    ['app.example.com/path', null],
    ['*.example.com', null],
    ['user@app.example.com', null],
    ['javascript:1', 'https://javascript:1'],
    ['https://app.test', 'https://app.test'],
    ['HTTPS://APP.test:443/', 'https://app.test'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://bücher.test', 'http://xn--bcher-kva.test'],
    ['', null],
    ['app.test', 'https://app.test'],
    ['https://app.test/x', null],
    ['https://app.test?x', null],
    ['https://app.test/#x', null],
    ['https://*.app.test', null],
    ['ftp://app.test', null],
    ['null', null],
  ]
  for (const [text, origin] of cases) assert.equal(normalizeOrigin(text), origin, text)
})

test('a refusal says what to send', () => {
  const { keys, secret } = holding({ allowedOrigins: new Set(['https://app.test']) })
  const saying = (credential: string | undefined, origin?: string): string | null => {
    const result = authenticate(keys, credential, origin, NOW)
    return result.ok ? null : result.message
  }
  const send = /^Send a proxy key in the header "Authorization: Bearer/
  assert.match(saying(undefined) ?? '', send)
  // A key without a scheme before it.
  assert.match(saying('') ?? '', send)
  assert.match(saying(secret) ?? '', /only for web pages .* names no origin\.$/)
  assert.match(saying(secret, 'https://evil.test') ?? '', /not be used from this origin\.$/)
})
