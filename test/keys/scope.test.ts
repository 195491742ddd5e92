import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { compileScope, scopeEntryProblem } from '../../server/keys/scope.ts'
import { createProviderTable } from '../../server/proxy/providers/table.ts'

const cases: [entries: string[] | null, name: string, allowed: boolean][] = [
  [null, 'anything', true],
  [null, '', true],
  [[], 'anything', false],
  [['gpt-x'], 'gpt-x', true],
  [['gpt-x'], 'gpt-x-mini', false],
  [['gpt-x'], 'GPT-X', false],
  [['gpt-x'], '', false],
  [['gpt-*'], 'gpt-', true],
  [['gpt-*'], 'gpt-x', true],
  [['gpt-*'], 'xgpt-x', false],
  [['*-mini'], 'gpt-x-mini', true],
  [['*-mini'], 'gpt-x-mini-2', false],
  [['*'], 'a/b:c', true],
  [['*'], '', false],
  [['x*'], 'xAz09._:/@+~=()-', true],
  [['x*'], 'x1,y', false],
  [['*x'], 'y,x', false],
  [['x*', 'y'], 'x1,y', false],
  [['x1,y'], 'x1,y', true],
  [['x*'], 'x#y', false],
  [['*'], 'x#y', false],
  [['x#*'], 'x#y', true],
  [['x#*'], 'x#y#z', false],
  [['x#y'], 'x#y', true],
  [['*#y'], 'x#y', true],
  [['**'], 'a', true],
  [['a*b*c'], 'abc', true],
  [['a*b*c'], 'a1b2c', true],
  [['a*b*c'], 'acb', false],
  [['a*b*c'], 'abcx', false],
  [['ab*ba'], 'aba', false],
  [['ab*ba'], 'abba', true],
  [['*a*'], 'bab', true],
  [['*a*a*'], 'ba', false],
  [['*ab*b*'], 'ab', false],
  [['*ab*b*'], 'abb', true],
  [['a.c'], 'abc', false],
  [['a?'], 'ab', false],
  [['[ab]'], 'a', false],
  [['openai/*'], 'openai/gpt-x:free', true],
  [['openai/*'], 'openai/../x', false],
  [['openai/*'], 'openai//x', false],
  [['*'], 'a b', false],
  [['a b'], 'a b', true],
  [
    ['a/b:5599ed305599ed305599ed305599ed305599ed305599ed305599ed305599ed30'],
    '5599ed305599ed305599ed305599ed305599ed305599ed305599ed305599ed30',
    true,
  ],
  [
    ['a/b:5599ed305599ed305599ed305599ed305599ed305599ed305599ed305599ed30'],
    '5599ed315599ed315599ed315599ed315599ed315599ed315599ed315599ed31',
    false,
  ],
  [['a/b:*'], '5599ed305599ed305599ed305599ed305599ed305599ed305599ed305599ed30', false],
  [['a/b:5599ed30'], '5599ed30', false],
  [['__proto__'], 'constructor', false],
]

for (const [entries, name, allowed] of cases) {
  test(`${JSON.stringify(entries)} ${allowed ? 'allows' : 'refuses'} ${JSON.stringify(name)}`, () =>
    assert.equal(compileScope(entries).allows([name]), allowed))
}

test('the spellings of a model, by provider', () => {
  const table = createProviderTable()
  const same: [id: string, name: string, entry: string, allowed: boolean][] = [
    ['google', 'gemini-x', 'models/gemini-x', true],
    ['google', 'models/gemini-x', 'gemini-x', true],
    ['google', 'tunedModels/x', 'x', false],
    ['google', 'tunedModels/x', 'tunedModels/*', true],
    ['vertex', 'publishers/google/models/gemini-x', 'gemini-x', true],
    ['vertex', 'publishers/google/models/gemini-x', 'google/gemini-x', true],
    ['vertex', 'publishers/anthropic/models/claude-x', 'anthropic/claude-x', true],
    ['vertex', 'publishers/anthropic/models/claude-x', 'claude-x', true],
    ['vertex', 'publishers/anthropic/models/gemini-x', 'gemini-x', false],
    ['vertex', 'publishers/other/models/claude-x', 'claude-x', false],
    ['vertex-cloud', 'publishers/google/models/gemini-x', 'gemini-x', true],
    ['vertex-cloud', 'en-US-Chirp3-HD-Kore', 'chirp-3-hd', true],
    ['vertex-cloud', 'en-US-Neural2-A', 'chirp-3-hd', false],
    ['fal', 'fal-ai/wizper', 'wizper', true],
    ['klingai', 'kling-v2-6', 'kling-v2.6-t2v', true],
    ['klingai', 'kling-v3', 'kling-v3.0-motion-control', true],
    ['klingai', 'kling-v2-5-turbo', 'kling-v2.5-turbo-i2v', true],
    ['klingai', 'kling-v2-5', 'kling-v2.5-turbo-i2v', false],
    ['klingai', 'kling-v2-6', 'kling-v2.5-t2v', false],
    ['fal', 'fal-ai/acme/wizper', 'acme/wizper', false],
    ['fal', 'acme/wizper', 'wizper', false],
    ['bedrock', 'arn:aws:bedrock:us-east-1::foundation-model/amazon.nova', 'amazon.nova', true],
    [
      'bedrock',
      'arn:aws:bedrock:us-east-1:123:inference-profile/us.amazon.nova',
      'us.amazon.nova',
      true,
    ],
    ['bedrock', 'arn:aws:bedrock:us-east-1:123:application-inference-profile/abc', 'abc', false],
    ['bedrock', 'us.amazon.nova', 'amazon.nova', false],
    ['bedrock', 'us.amazon.nova', '*amazon.nova', true],
    ['fireworks', 'accounts/fireworks/models/x', 'x', false],
    ['openai', 'models/gpt-x', 'gpt-x', false],
  ]
  for (const [id, name, entry, allowed] of same) {
    const provider = table.byId(id)
    assert.ok(provider)
    assert.equal(
      compileScope([entry]).allows(provider.modelNames(name)),
      allowed,
      `${id} ${name} ${entry}`,
    )
  }
})

test('a pattern matches what the equivalent regular expression matches', () => {
  const text = fc.stringMatching(/^[ab-]{0,6}$/)
  fc.assert(
    fc.property(fc.stringMatching(/^[ab*-]{1,6}$/), text, (entry, name) => {
      const expected = name !== '' && new RegExp(`^${entry.replaceAll('*', '.*')}$`).test(name)
      assert.equal(
        compileScope([entry]).allows([name]),
        expected || (name === entry && name !== ''),
      )
    }),
    { numRuns: 5_000 },
  )
})

test('a pattern that makes a naive matcher backtrack is matched in linear time', () => {
  assert.equal(compileScope([`${'*a'.repeat(120)}b`]).allows(['a'.repeat(2_000)]), false)
})

test('invalid entries are refused', () => {
  for (const entry of ['', ' a', 'a ', 'a\n', 'é', 'a'.repeat(257)])
    assert.notEqual(scopeEntryProblem(entry), null, entry)
  for (const entry of ['a'.repeat(256), 'a', 'a b', '*', 'openai/*', 'arn:aws:bedrock:*'])
    assert.equal(scopeEntryProblem(entry), null, entry)
})
