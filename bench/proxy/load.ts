// The callers of the bench, in their own process: MODE PORT CONNECTIONS SECONDS MOST PATH [HEADER
// …]. Prints one line of JSON when the time is up, after MOST responses, or when told to stop.
// `requests`: each connection sends the next request right after a response. `large`: the same with
// bodies of 200 to 400 KB, half of them for streams. `paced`: every 20 ms. `events`: streams, one
// after another.
import { connect } from 'node:net'
import { LARGE_BODIES } from './large.ts'

/**
 * The results of a load: responses, and delays in milliseconds (of whole responses, or of events).
 */
export interface Found {
  done: number
  events: number
  p50: number
  p99: number
  /** Only for `paced`: arrival (milliseconds since 1970) and delay of each response. */
  responses: [at: number, delay: number][]
}

const PACE_MS = 20
const [
  mode = 'requests',
  port = '0',
  connections = '32',
  seconds = '5',
  most = 'Infinity',
  path = '/',
  ...headers
] = process.argv.slice(2)
const body = JSON.stringify({
  model: 'gpt-5',
  ...(mode === 'events' ? { stream: true } : {}),
  messages: [{ role: 'user', content: 'x'.repeat(940) }],
}).padEnd(1024)
const headOf = (length: number): string =>
  `POST ${path} HTTP/1.1\r\nHost: localhost:${port}\r\n${headers.map((line) => `${line}\r\n`).join('')}` +
  `Content-Type: application/json\r\nUser-Agent: ai-sdk/6.0\r\nAccept: */*\r\nContent-Length: ${length}\r\n\r\n`
const request = Buffer.from(headOf(Buffer.byteLength(body)) + body)
const largeRequests =
  mode === 'large'
    ? LARGE_BODIES.map((bytes) => Buffer.concat([Buffer.from(headOf(bytes.length)), bytes]))
    : []
let done = 0
let over = false
const delays: number[] = []
const responses: Found['responses'] = []

for (let i = 0; i < Number(connections); i++)
  setTimeout(
    mode === 'events' ? listen : mode === 'large' ? askLarge : ask,
    mode === 'paced' ? Math.random() * PACE_MS : 0,
  )
setTimeout(report, Number(seconds) * 1000)
process.on('SIGTERM', report)

function report(): void {
  if (over) return
  over = true
  delays.sort((a, b) => a - b)
  const at = (share: number) => delays[Math.floor(delays.length * share)] ?? 0
  console.log(
    JSON.stringify({
      done,
      events: delays.length,
      p50: at(0.5) / 1000,
      p99: at(0.99) / 1000,
      responses,
    } satisfies Found),
  )
  setTimeout(() => process.exit(0), 50)
}

const now = (): number => Number(process.hrtime.bigint() / 1000n)

/** One keep-alive connection of plain requests. */
function ask(): void {
  const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true }, send)
  let expected = 0
  let got = 0
  let sentAt = 0
  function send(): void {
    if (over) return
    sentAt = now()
    socket.write(request)
  }
  socket.on('error', fail)
  socket.on('data', (bytes) => {
    if (expected === 0) {
      const end = bytes.indexOf('\r\n\r\n')
      const head = bytes.toString('latin1', 0, end)
      if (!head.startsWith('HTTP/1.1 200')) fail(new Error(bytes.toString('latin1')))
      expected = end + 4 + Number(/content-length: (\d+)/i.exec(head)![1])
      got = 0
    }
    got += bytes.length
    if (got < expected) return
    expected = 0
    if (++done >= Number(most)) report()
    if (mode !== 'paced') return send()
    const delay = now() - sentAt
    delays.push(delay)
    responses.push([Date.now(), delay / 1000])
    setTimeout(send, PACE_MS)
  })
}

const LAST_CHUNK = '0\r\n\r\n'
let asked = 0

/** One keep-alive connection of large requests, whose responses are streams or have a length. */
function askLarge(): void {
  const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true }, send)
  let response = ''
  let left = -1
  function send(): void {
    if (over) return
    response = ''
    left = -1
    socket.write(largeRequests[asked++ % largeRequests.length]!)
  }
  socket.on('error', fail)
  socket.on('data', (bytes) => {
    if (left < 0) {
      response += bytes.toString('latin1')
      const end = response.indexOf('\r\n\r\n')
      if (end < 0) return
      if (!response.startsWith('HTTP/1.1 200')) fail(new Error(response))
      const length = /content-length: (\d+)/i.exec(response.slice(0, end))?.[1]
      left = length === undefined ? Infinity : end + 4 + Number(length) - response.length
    } else left -= bytes.length
    if (left === Infinity ? !isLast(bytes.toString('latin1')) : left > 0) return
    if (++done >= Number(most)) report()
    send()
  })
}

/** Whether a chunk of a stream is its last, and not a head that ends with a 0. */
const isLast = (text: string): boolean => text === LAST_CHUNK || text.endsWith(`\r\n${LAST_CHUNK}`)

/**
 * One connection that opens one stream after another, and records the age of each event on arrival.
 */
function listen(): void {
  const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true }, () =>
    socket.write(request),
  )
  socket.on('error', fail)
  socket.on('data', (bytes) => {
    const at = now()
    const text = bytes.toString('latin1')
    for (const [, sent] of text.matchAll(/"at":(\d+)/g)) delays.push(at - Number(sent))
    if (!text.endsWith('0\r\n\r\n')) return
    done++
    if (!over) socket.write(request)
  })
}

function fail(error: Error): void {
  if (over) return
  console.error(error.message)
  process.exit(1)
}
