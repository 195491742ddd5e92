// Where a request may hold its proxy key, and which of several counts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentedKey } from '../../server/proxy/authenticate-request.ts'
import { createProviderTable } from '../../server/proxy/providers/table.ts'

const table = createProviderTable({
  custom: [
    { id: 'acme', origin: 'https://api.acme.test', auth: { header: 'X-Acme' } },
    { id: 'bare', origin: 'https://api.bare.test', auth: { header: 'Authorization' } },
  ],
})

type Headers = [name: string, value: string][]
type Case = [
  what: string,
  provider: string | null,
  headers: Headers,
  queryKeys: string[],
  credential: string | undefined | null,
  fromQuery?: true,
]

/** TABLE: null where the request holds two different keys. */
const CASES: Case[] = [
  ['nothing', 'openai', [], [], undefined],
  [
    'Authorization, as it stands',
    'openai',
    [['authorization', 'Bearer tmk_a']],
    [],
    'Bearer tmk_a',
  ],
  [
    "somebody else's Authorization",
    'openai',
    [['authorization', 'Bearer sk-a']],
    [],
    'Bearer sk-a',
  ],
  ['Authorization without a scheme', 'openai', [['authorization', 'tmk_a']], [], ''],
  ['the same where the row says so', 'bare', [['authorization', 'tmk_a']], [], 'tmk_a'],
  ...['x-api-key', 'X-Api-Key', 'x-goog-api-key', 'api-key', 'xi-api-key'].flatMap((name): Case[] =>
    ['openai', 'anthropic', 'google', null].map((provider) => [
      `${name} at ${provider}`,
      provider,
      [[name, 'tmk_a']],
      [],
      'tmk_a',
    ]),
  ),
  ["an added provider's own header", 'acme', [['x-ACME', 'tmk_a']], [], 'tmk_a'],
  ["another provider's own header", 'openai', [['x-acme', 'tmk_a']], [], undefined],
  ['a header that holds no keys', 'openai', [['x-title', 'tmk_a']], [], undefined],
  [
    'what does not begin like a key of ours',
    'anthropic',
    [
      ['x-api-key', 'sk-ant'],
      ['authorization', 'Bearer tmk_a'],
    ],
    [],
    'Bearer tmk_a',
  ],
  [
    "a key of ours beside somebody else's Authorization",
    'anthropic',
    [
      ['x-api-key', 'tmk_a'],
      ['authorization', 'Bearer sk-a'],
    ],
    [],
    'tmk_a',
  ],
  [
    'one key twice',
    'anthropic',
    [
      ['x-api-key', 'tmk_a'],
      ['authorization', 'bearer tmk_a '],
    ],
    [],
    'tmk_a',
  ],
  [
    'one key three times',
    'google',
    [
      ['x-goog-api-key', 'tmk_a'],
      ['authorization', 'Key tmk_a'],
    ],
    ['tmk_a'],
    'tmk_a',
    true,
  ],
  [
    'two keys',
    'anthropic',
    [
      ['x-api-key', 'tmk_a'],
      ['authorization', 'Bearer tmk_b'],
    ],
    [],
    null,
  ],
  ...['tmk_b', 'Basic tmk_b', 'Bearer\ttmk_b', 'Token  tmk_b '].map((value): Case => [
    `two keys, one as ${JSON.stringify(value)}`,
    'openai',
    [
      ['x-api-key', 'tmk_a'],
      ['authorization', value],
    ],
    [],
    null,
  ]),
  [
    'one key twice, once without a scheme',
    'openai',
    [
      ['x-api-key', 'tmk_a'],
      ['authorization', 'tmk_a'],
    ],
    [],
    'tmk_a',
  ],
  [
    'two keys in one header',
    'anthropic',
    [
      ['x-api-key', 'tmk_a'],
      ['x-api-key', 'tmk_b'],
    ],
    [],
    null,
  ],
  [
    'a wrong key beside a right one',
    'anthropic',
    [
      ['api-key', 'tmk_wrong'],
      ['x-api-key', 'tmk_a'],
    ],
    [],
    null,
  ],
  ['the query, at Google', 'google', [], ['tmk_a'], 'tmk_a', true],
  ['the query, at Vertex', 'vertex', [], ['tmk_a'], 'tmk_a', true],
  ['the query, elsewhere', 'openai', [], ['tmk_a'], undefined],
  ['the query, nowhere', null, [], ['tmk_a'], undefined],
  ["somebody else's key in the query", 'google', [['x-goog-api-key', 'tmk_a']], ['AIza'], 'tmk_a'],
  ['two keys in the query', 'google', [], ['tmk_a', 'tmk_b'], null],
  [
    'one in the query and another in a header',
    'google',
    [['x-goog-api-key', 'tmk_b']],
    ['tmk_a'],
    null,
  ],
  [
    'one in the query and another in Authorization',
    'google',
    [['authorization', 'Bearer tmk_b']],
    ['tmk_a'],
    null,
  ],
]

test("a request has exactly one key, in any place its provider's clients use", () => {
  for (const [what, id, headers, queryKeys, credential, fromQuery = false] of CASES) {
    const authorization = headers.find(([name]) => name === 'authorization')?.[1]
    const found = presentedKey(
      headers.flat(),
      authorization,
      id === null ? null : (table.byId(id) ?? assert.fail(id)),
      queryKeys.map((value) => ({ name: 'key', value })),
    )
    assert.deepEqual(found, credential === null ? null : { credential, fromQuery }, what)
  }
})
