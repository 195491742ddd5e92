// The check of responses against the description must itself be able to fail.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { checkDescribed } from '../support/described.ts'

const text = { type: 'string' }
const DOCUMENT = {
  paths: {
    '/things/{id}': {
      get: {
        responses: {
          200: {
            headers: { 'X-Request-Id': { required: true, schema: text } },
            content: { 'application/json': { schema: { $ref: '#/components/schemas/NewThing' } } },
          },
        },
      },
    },
  },
  components: {
    schemas: {
      Thing: {
        type: 'object',
        properties: {
          id: text,
          at: { type: ['string', 'null'], format: 'date-time' },
          of: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
        },
        required: ['id', 'at', 'of'],
      },
      NewThing: {
        allOf: [
          { $ref: '#/components/schemas/Thing' },
          { type: 'object', properties: { secret: text }, required: ['secret'] },
        ],
      },
    },
  },
}

const GOOD = { id: 'x', at: null, of: { n: 1 }, secret: 's' }

/**
 * TABLE: what, how the response differs from a good one, and what is said of it (null: it passes).
 */
const CASES: [what: string, change: object, status: number, says: RegExp | null][] = [
  ['as described', {}, 200, null],
  ['a time', { at: '2026-11-03T12:00:00.000Z' }, 200, null],
  ['no time', { at: 'soon' }, 200, /at/],
  ['a field too many', { extra: 1 }, 200, /extra/],
  ['one too many further in', { of: { n: 1, m: 2 } }, 200, /"m"/],
  ['one too few', { secret: undefined }, 200, /secret/],
  ['null where none may be', { id: null }, 200, /id/],
  ['another kind', { of: { n: 1.5 } }, 200, /n/],
  ['another status', {}, 201, /which is not described/],
]

test('a response that does not match its description is reported', async (t) => {
  const server = createServer((_, response) => response.end(JSON.stringify(DOCUMENT))).listen(
    0,
    '127.0.0.1',
  )
  await once(server, 'listening')
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const headers = { 'content-type': 'application/json', 'x-request-id': 'r' }
  for (const [what, change, status, says] of CASES) {
    const check = checkDescribed(url, 'GET', '/things/1', {
      status,
      headers,
      text: JSON.stringify({ ...GOOD, ...change }),
    })
    if (says === null) await check
    else await assert.rejects(check, says, what)
  }
  const bare = {
    status: 200,
    headers: { 'content-type': 'application/json' },
    text: JSON.stringify(GOOD),
  }
  await assert.rejects(checkDescribed(url, 'GET', '/things/1', bare), /X-Request-Id/)
  await assert.rejects(checkDescribed(url, 'GET', '/nowhere', bare), /is not described/)
  await assert.rejects(checkDescribed(url, 'POST', '/things/1', bare), /is not described/)
})
