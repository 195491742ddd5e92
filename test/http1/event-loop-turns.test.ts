// Many requests of the API at once are begun one after the other, so that streams go on between
// them.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { startServer } from '../support/harness.ts'
import { until } from '../support/until.ts'

const CALLERS = 60
/** One is begun in a turn; what ends in one is at times the end of two or three. */
const MOST_A_TURN = 4

const HEAD = 'Host: localhost\r\nContent-Type: application/json\r\n'
/** TABLE of what all callers send: first, what they are told then, and at the same moment. */
const FLOODS: [name: string, first: string, told: string, then: string, status: number][] = [
  [
    'requests',
    'GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n',
    'HTTP/1.1 404',
    'GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n',
    404,
  ],
  [
    'bodies',
    `POST /api/v1/session HTTP/1.1\r\n${HEAD}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`,
    'HTTP/1.1 100',
    '{}',
    422,
  ],
]

async function open(port: number): Promise<{ socket: Socket; text: () => string }> {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.setEncoding('latin1').on('data', (piece: string) => (text += piece))
  await once(socket, 'connect')
  return { socket, text: () => text }
}

for (const [name, first, told, then, status] of FLOODS) {
  test(`concurrent ${name} are spread over turns of the event loop`, async (t) => {
    const server = await startServer(t)
    const callers = await Promise.all(Array.from({ length: CALLERS }, () => open(server.port)))
    t.after(() => callers.forEach(({ socket }) => socket.destroy()))
    for (const { socket } of callers) socket.write(first)
    await until(() => callers.every(({ text }) => text().includes(told)))
    const responded = (): number =>
      server.lines.filter((line) => line.includes(`"status":${status}`)).length
    await until(() => responded() === (status === 404 ? CALLERS : 0))

    const before = server.lines.length
    const inTurns: number[] = []
    let counted = before
    let counting = true
    t.after(() => (counting = false))
    const count = (): void => {
      inTurns.push(server.lines.length - counted)
      counted = server.lines.length
      if (counting) setImmediate(count)
    }
    setImmediate(count)
    for (const { socket } of callers) socket.write(then)
    await until(() => server.lines.length === before + CALLERS)
    await until(() => counted === before + CALLERS)
    assert.equal(
      inTurns.reduce((sum, some) => sum + some, 0),
      CALLERS,
    )
    assert.ok(Math.max(...inTurns) <= MOST_A_TURN, `${Math.max(...inTurns)} in one turn`)
  })
}
