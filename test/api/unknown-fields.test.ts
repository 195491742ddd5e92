// A request says nothing that is not heard: what a route does not know is 400, so that a misspelt
// limit is never no limit.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FieldError } from '../../server/common/errors.ts'
import type { Key, NewKey } from '../../server/keys/key-record.ts'
import { PROVIDERS } from '../../server/proxy/providers/rows/index.ts'
import { respond } from '../support/providers/fake.ts'
import { startServed } from '../proxy/support/served.ts'
import { assertProblem, call, startServer, type ReceivedResponse } from '../support/harness.ts'
import { manager } from '../support/manager.ts'

interface Schema {
  type?: string | string[]
  properties?: Record<string, Schema>
  additionalProperties?: unknown
  anyOf?: Schema[]
}
interface Described {
  paths: Record<
    string,
    Record<string, { requestBody?: { content: Record<string, { schema: Schema }> } }>
  >
}

const errorsOf = (refused: ReceivedResponse): readonly FieldError[] =>
  refused.json<{ errors?: FieldError[] }>().errors ?? []

/** Asserts that a request is refused, among others for this field or parameter. */
function assertUnknown(
  refused: ReceivedResponse,
  param: string,
  code: 'unknown_field' | 'unknown_parameter',
): void {
  assertProblem(refused, 400, 'invalid_field')
  assert.ok(
    errorsOf(refused).some((error) => error.param === param && error.code === code),
    refused.text,
  )
}

/** The paths of the objects in a body whose fields are listed; `''` is the body itself. */
function objectsIn(schema: Schema, path = ''): { path: string; schema: Schema }[] {
  if (schema.anyOf) return schema.anyOf.flatMap((choice) => objectsIn(choice, path))
  if (!schema.properties) return []
  return [
    { path, schema },
    ...Object.entries(schema.properties).flatMap(([name, inner]) =>
      objectsIn(inner, path === '' ? name : `${path}.${name}`),
    ),
  ]
}

/** A body with one unknown field in the object at this path. */
function bodyWith(path: string, name: string): object {
  return path
    .split('.')
    .filter(Boolean)
    .reduceRight<object>((inner, step) => ({ [step]: inner }), { [name]: 1 })
}

test('no route accepts a field or query parameter that its description lacks', async (t) => {
  const server = await startServer(t)
  const secret = await server.token({ scopes: ['manage', 'convert'] })
  const send = (method: string, path: string, body?: object): Promise<ReceivedResponse> =>
    call(server.url, path, {
      method,
      token: secret,
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
  const { paths } = (await call(server.url, '/openapi.json')).json<Described>()
  // What the proxy takes is the provider's affair.
  const operations = Object.entries(paths)
    .filter(([path]) => !path.startsWith('/proxy'))
    .flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({
        path,
        method: method.toUpperCase(),
        ...operation,
      })),
    )
  assert.ok(operations.length > 40)
  for (const { path, method, requestBody } of operations) {
    const target = path.replaceAll(/\{\w+\}/g, 'x_0')
    await t.test(`${method} ${path}`, async () => {
      assertUnknown(await send(method, `${target}?zzz=1`), 'zzz', 'unknown_parameter')
      if (method === 'GET')
        assertUnknown(await send(method, `${target}?__proto__=1`), '__proto__', 'unknown_parameter')
      if (method === 'GET' || requestBody?.content['multipart/form-data']) return
      assertUnknown(await send(method, target, { zzz: 1 }), 'zzz', 'unknown_field')
      const schema = requestBody?.content['application/json']?.schema
      for (const { path: place, schema: object } of schema ? objectsIn(schema) : []) {
        assert.equal(object.additionalProperties, false, `${place} is described as closed`)
        assertUnknown(
          await send(method, target, bodyWith(place, 'zzz')),
          place === '' ? 'zzz' : `${place}.zzz`,
          'unknown_field',
        )
      }
    })
  }
})

test('a misspelt field is refused with every fault and the nearest name, and no key is created', async (t) => {
  const served = await startServed(t, respond(200, {}))
  const { api } = await manager(served)
  const refused = await api('POST', 'keys', {
    name: 'x',
    rmp: 5,
    model: ['gpt-4o'],
    expires: '2020-01-01',
    Allowed_Origins: [],
    zebra: 1,
  })
  assertProblem(refused, 400, 'invalid_field')
  assert.deepEqual(errorsOf(refused), [
    { param: 'rmp', code: 'unknown_field', detail: 'Unknown field. Did you mean "rpm"?' },
    { param: 'model', code: 'unknown_field', detail: 'Unknown field. Did you mean "models"?' },
    {
      param: 'expires',
      code: 'unknown_field',
      detail: 'Unknown field. Did you mean "expires_at"?',
    },
    {
      param: 'Allowed_Origins',
      code: 'unknown_field',
      detail: 'Unknown field. Did you mean "allowed_origins"?',
    },
    { param: 'zebra', code: 'unknown_field', detail: 'Unknown field.' },
  ])
  assert.deepEqual((await api('GET', 'keys')).json<{ data: Key[] }>().data, [])
  const made = (await api('POST', 'keys', { name: 'x' })).json<NewKey>()
  assertUnknown(
    await api('PATCH', `keys/${made.id}`, { disabled: true }),
    'disabled',
    'unknown_field',
  )
  assertUnknown(await api('GET', 'keys?statuss=active'), 'statuss', 'unknown_parameter')
})

const PROVIDERS_SENTENCE = `There is no provider "opnai". Choose from ${PROVIDERS.map(
  ({ id }) => id,
)
  .toSorted()
  .join(', ')}.`

/** TABLE of wrong values: the body of a key, and what it is refused with. */
const FAULTS: [body: object, errors: [param: string, code: string, detail: string][]][] = [
  [{}, [['name', 'missing', 'This field is required.']]],
  [
    { name: '', rpm: 0 },
    [
      ['name', 'invalid_value', 'Must have at least 1 character.'],
      ['rpm', 'invalid_value', 'Must be at least 1.'],
    ],
  ],
  [
    { name: 7, rpm: 1.5, models: 'gpt-4o' },
    [
      ['name', 'invalid_value', 'Must be a string.'],
      ['models', 'invalid_value', 'Must be a list.'],
      ['rpm', 'invalid_value', 'Must be a whole number.'],
    ],
  ],
  [
    { name: 'x', models: [], rpm: 1_000_001 },
    [
      ['models', 'invalid_value', 'Must have at least 1 entry.'],
      ['rpm', 'invalid_value', 'Must be at most 1000000.'],
    ],
  ],
  [
    { name: 'x', allowed_origins: ['nowhere'], zz: 1 },
    [
      ['allowed_origins.0', 'invalid_value', 'Must be an origin such as https://app.example.com.'],
      ['zz', 'unknown_field', 'Unknown field.'],
    ],
  ],
  // What only the server knows is told together with what the schema knows.
  [
    { name: '', expires_at: '2020-01-01', providers: ['openai', 'opnai'] },
    [
      ['name', 'invalid_value', 'Must have at least 1 character.'],
      ['providers.1', 'invalid_value', PROVIDERS_SENTENCE],
      [
        'expires_at',
        'invalid_value',
        'This date is in the past. Choose a later one; to end a key or a token now, revoke it.',
      ],
    ],
  ],
]

test('faults of the query and the body are reported together, in our own sentences', async (t) => {
  const server = await startServer(t)
  const secret = await server.token({ scopes: ['manage', 'convert'] })
  const send = (method: string, path: string, body: object): Promise<ReceivedResponse> =>
    call(server.url, path, {
      method,
      token: secret,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const refused = await send('POST', '/api/v1/credentials?test=maybe', {
    secret: 'with spaces',
    values: { region: 7 },
  })
  assert.deepEqual(errorsOf(refused), [
    { param: 'test', code: 'invalid_value', detail: 'Must be one of "true", "false".' },
    { param: 'provider', code: 'missing', detail: 'This field is required.' },
    { param: 'secret', code: 'invalid_value', detail: 'Must be printable ASCII without spaces.' },
    { param: 'values.region', code: 'invalid_value', detail: 'Must be a string.' },
  ])
  const repeated = await call(server.url, '/api/v1/keys?limit=1&limit=2', { token: secret })
  assert.deepEqual(errorsOf(repeated), [
    {
      param: 'limit',
      code: 'duplicate',
      detail: 'This parameter was sent twice. Send it once.',
    },
  ])
  const { paths } = (await call(server.url, '/openapi.json')).json<Described>()
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { requestBody }] of Object.entries(operations)) {
      const fields = Object.entries(
        requestBody?.content['application/json']?.schema.properties ?? {},
      )
      // `readOnly` fields are compared with the record, which is not there.
      const wrong = fields
        .filter(([, field]) => !('readOnly' in field))
        .map(([name]) => [name, [{ no: 'value' }]] as const)
      if (wrong.length === 0) continue
      const errors = errorsOf(
        await send(
          method.toUpperCase(),
          path.replaceAll(/\{\w+\}/g, 'x_0'),
          Object.fromEntries(wrong),
        ),
      )
      for (const [name] of wrong)
        assert.ok(
          errors.some(({ param }) => `${param}.`.startsWith(`${name}.`)),
          `${method} ${path}: ${name}`,
        )
      for (const { param, detail } of errors) {
        assert.match(detail, /^[A-Z][^]*\.$/, `${param}: ${detail}`)
        assert.doesNotMatch(
          detail,
          /\b(?:expected|received|invalid input|undefined|NaN|regex|pattern)\b/i,
          `${param}: ${detail}`,
        )
      }
    }
  }
})

test('all faults are reported at once, each with its field', async (t) => {
  const served = await startServed(t, respond(200, {}))
  const { api } = await manager(served)
  for (const [body, errors] of FAULTS) {
    const refused = await api('POST', 'keys', body)
    assertProblem(refused, 400, 'invalid_field')
    assert.deepEqual(
      errorsOf(refused),
      errors.map(([param, code, detail]) => ({ param, code, detail })),
    )
    assert.equal(
      refused.json()['detail'],
      errors.map(([param, , detail]) => `${param}: ${detail}`).join(' '),
    )
  }
  const many = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`f${index}`, 1]))
  const refused = await api('POST', 'keys', { name: 'x', ...many })
  assert.equal(errorsOf(refused).length, 50)
  assert.match(String(refused.json()['detail']), / 895 more faults\.$/)
})

test('a record can be sent back with one field changed; changing a read-only field is refused', async (t) => {
  const served = await startServed(t, respond(200, {}))
  const { api } = await manager(served)
  const member = (await api('POST', 'accounts', { name: 'member' })).json()
  await api('POST', 'providers', {
    id: 'acme',
    origin: 'https://acme.example.com',
    dial: 'http://127.0.0.1:9/base',
    auth: { header: 'X-Key' },
  })
  const records: [path: string, change: object, readOnly: Record<string, unknown>][] = [
    [
      `keys/${(await api('POST', 'keys', { name: 'k', rpm: 5, expires_at: '2027-01-31' })).json<NewKey>().id}`,
      { rpm: 6 },
      { id: 'key_x', created_at: '2020-01-01T00:00:00.000Z', prefix: 'tmk_x', usage: 1 },
    ],
    [
      `accounts/${String(member['id'])}`,
      { disabled: true },
      { id: 'acc_x', email: 'a@b.c', created_at: '2020-01-01T00:00:00.000Z' },
    ],
    [
      `credentials/${String((await api('POST', 'credentials', { provider: 'acme', secret: 'abcdef' })).json()['id'])}`,
      { weight: 7 },
      { provider: 'openai', values: { region: 'x' } },
    ],
  ]
  for (const [path, change, readOnly] of records) {
    const before = (await api('GET', path)).json()
    const changed = await api('PATCH', path, { ...before, ...change })
    assert.equal(changed.status, 200, changed.text)
    assert.deepEqual(changed.json(), { ...before, ...change })
    for (const [name, value] of Object.entries(readOnly)) {
      const refused = await api('PATCH', path, { ...change, [name]: value })
      assertProblem(refused, 400, 'invalid_field')
      assert.deepEqual(errorsOf(refused), [
        {
          param: name,
          code: 'read_only',
          detail: 'This field is read-only. Leave it out, or send its current value.',
        },
      ])
    }
    const refused = await api('PATCH', path, readOnly)
    assert.equal(errorsOf(refused).length, Object.keys(readOnly).length, 'all at once')
    assert.deepEqual((await api('GET', path)).json(), changed.json())
  }
  // A provider cannot be read alone: it is one of the list.
  const acme = (await api('GET', 'providers'))
    .json<{ data: { id: string }[] }>()
    .data.find(({ id }) => id === 'acme')
  assert.equal(
    (await api('PATCH', 'providers/acme', { ...acme, dial: 'http://127.0.0.1:9/other' })).json()[
      'dial'
    ],
    'http://127.0.0.1:9/other',
  )
  assertProblem(await api('PATCH', 'providers/acme', { hosts: ['else'] }), 400, 'invalid_field')
})

test('an ended key can be sent back unchanged, and its state cannot be set', async (t) => {
  const served = await startServed(t, respond(200, {}))
  const { api } = await manager(served)
  const { id } = (await api('POST', 'keys', { name: 'k' })).json<NewKey>()
  await served.running.store.db
    .updateTable('keys')
    .set({ expires_at: Date.UTC(2020, 0, 1) })
    .where('id', '=', id)
    .execute()
  const expired = (await api('GET', `keys/${id}`)).json<Key>()
  assert.equal(
    (await api('PATCH', `keys/${id}`, { ...expired, name: 'renamed' })).json<Key>().name,
    'renamed',
  )
  assertProblem(await api('PATCH', `keys/${id}`, { status: 'revoked' }), 400, 'invalid_field')
  // What moves by itself may be older than the record is by now.
  const stale = {
    ...expired,
    last_used_at: '2026-01-01T00:00:00.000Z',
    usage: { ...expired.usage, requests: 3 },
  }
  assert.equal((await api('PATCH', `keys/${id}`, stale)).status, 200)
})

/**
 * TABLE of bodies that must not be taken for another: what they are, their bytes, their type, the
 * field they are refused for.
 */
const BODIES: [
  what: string,
  body: string | Buffer,
  type: string | undefined,
  param: string | undefined,
][] = [
  ['one name twice', '{"name":"x","rpm":5,"rpm":null}', 'application/json', 'rpm'],
  [
    'one name twice, once escaped',
    String.raw`{"name":"x","rpm":5,"\u0072pm":null}`,
    'application/json',
    'rpm',
  ],
  ['one name twice, deep', '{"name":"x","a":[{"b":{"c":1,"c":1}}]}', 'application/json', 'a.b.c'],
  ['no type', '{"name":"x"}', undefined, undefined],
  ['the type of a form', '{"name":"x"}', 'application/x-www-form-urlencoded', undefined],
  ['text', '{"name":"x"}', 'text/plain', undefined],
  ['not UTF-8', Buffer.from('{"name":"\xff"}', 'latin1'), 'application/json', undefined],
  ['half of it', '{"name":"x"', 'application/json', undefined],
  ['a list', '[]', 'application/json', ''],
  ['null', 'null', 'application/json', ''],
  ['an own __proto__', '{"name":"x","__proto__":{"rpm":5}}', 'application/json', '__proto__'],
]

test('a body with a duplicate field, or that is not JSON, is refused', async (t) => {
  const served = await startServed(t, respond(200, {}))
  const { api, token } = await manager(served)
  const { id, secret } = (await api('POST', 'keys', { name: 'k' })).json<NewKey>()
  for (const [what, body, type, param] of BODIES) {
    for (const [method, path] of [
      ['POST', 'keys'],
      ['PATCH', `keys/${id}`],
      ['POST', `keys/${id}/rotate`],
      ['DELETE', `keys/${id}`],
    ] as const) {
      const refused = await call(served.running.url, `/api/v1/${path}`, {
        method,
        token: token.secret,
        headers: type === undefined ? {} : { 'content-type': type },
        body,
      })
      assertProblem(refused, 400, 'invalid_field')
      if (param !== undefined)
        assert.ok(
          errorsOf(refused).some((error) => error.param === param),
          `${what}: ${refused.text}`,
        )
    }
  }
  assert.equal((await api('GET', `keys/${id}`)).json<Key>().status, 'active')
  assert.ok(secret)
  // Thousands of fields are not even read: one such body would take ten milliseconds.
  const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [`f${i}`, i]))
  for (const space of [0, 1]) {
    const body = JSON.stringify(many, null, space).replaceAll('":', `"${' '.repeat(space)}:`)
    const refused = await call(served.running.url, '/api/v1/keys', {
      method: 'POST',
      token: token.secret,
      headers: { 'content-type': 'application/json' },
      body,
    })
    assertProblem(refused, 400, 'invalid_field')
    assert.match(refused.text, /more fields than any request needs/)
  }
  // The same name in two objects, and in a text, is no repetition.
  assert.equal((await api('POST', 'keys', { name: '{"name":1,"name":2}' })).status, 201)
})
