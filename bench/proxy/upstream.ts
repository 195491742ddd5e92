// The provider of the bench, as cheap as possible in Node, so that the CPU goes to the proxies.
// Every request must have a Content-Length. A request for a stream gets events, each with the time
// it was sent; a handshake gets a WebSocket; others get 1.5 KB of JSON. Requests for the models
// `breaks-2000` and `ends-2000` wait for each other: when so many have the head of their response,
// all are reset at once, or get the rest. The model `gpt-zipped` answers with compressed events.
import { createServer, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { serveSocket } from '../../test/support/providers/socket-provider.ts'

const [port = '0', interval = '20', events = '50'] = process.argv.slice(2)
const JSON_BODY = Buffer.from(
  JSON.stringify({
    id: 'x',
    choices: [{ message: { content: 'a'.repeat(1350) } }],
    usage: { prompt_tokens: 200, completion_tokens: 300 },
  }).padEnd(1536),
)
const JSON_RESPONSE = Buffer.concat([
  Buffer.from(
    `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${JSON_BODY.length}\r\nX-Ratelimit-Remaining-Requests: 99\r\nDate: Sat, 01 Jan 2022 00:00:00 GMT\r\n\r\n`,
  ),
  JSON_BODY,
])
const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'

/** 15 MB of events with usage, which the proxy reads: 50 KB on the wire. */
const ZIPPED = gzipSync(
  'data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":50}}\n\n'.repeat(210_000),
)
const ZIPPED_RESPONSE = Buffer.concat([
  Buffer.from(
    `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\nContent-Length: ${ZIPPED.length}\r\n\r\n`,
  ),
  ZIPPED,
])

const GATHERED = /"model":"(breaks|ends)-(\d+)"/
/** How long the last one waits (milliseconds). */
const GATHERED_MS = 300
const waiting = new Map<string, Socket[]>()

createServer({ noDelay: true }, (socket) => {
  let expected = 0
  let got = 0
  let streaming = false
  let zipped = false
  let gathered: RegExpExecArray | null = null
  socket.on('error', () => {})
  socket.on('data', (bytes) => {
    if (expected === 0) {
      const end = bytes.indexOf('\r\n\r\n')
      const head = bytes.toString('latin1', 0, end)
      const key = /sec-websocket-key: (\S+)/i.exec(head)?.[1]
      if (key !== undefined) return serveSocket(socket, head.split(' ', 2)[1] ?? '', key)
      expected = end + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
      got = 0
      streaming = false
      zipped = false
      gathered = null
    }
    streaming ||= bytes.includes('"stream":true')
    zipped ||= bytes.includes('"model":"gpt-zipped"')
    gathered ??= GATHERED.exec(bytes.toString('latin1'))
    got += bytes.length
    if (got < expected) return
    expected = 0
    if (gathered !== null) gather(socket, gathered)
    else if (streaming) stream(socket)
    else if (zipped) socket.write(ZIPPED_RESPONSE)
    else socket.write(JSON_RESPONSE)
  })
}).listen(Number(port), '127.0.0.1')

/** Waits until there are as many as the model says; then all of them break, or end. */
function gather(socket: Socket, [model, fate, count = '1']: RegExpExecArray): void {
  const all = waiting.get(model) ?? []
  waiting.set(model, all)
  socket.write(JSON_RESPONSE.subarray(0, -1))
  if (all.push(socket) < Number(count)) return
  waiting.delete(model)
  setTimeout(() => {
    for (const one of all)
      if (fate === 'breaks') one.resetAndDestroy()
      else one.write(JSON_RESPONSE.subarray(-1))
  }, GATHERED_MS)
}

function stream(socket: Socket): void {
  socket.write(STREAM_HEAD)
  let left = Number(events)
  const timer = setInterval(() => {
    if (socket.destroyed) return clearInterval(timer)
    const event = `data: {"at":${Number(process.hrtime.bigint() / 1000n)},"choices":[{"index":0,"delta":{"content":"token "},"finish_reason":null}]}\n\n`
    socket.write(`${event.length.toString(16)}\r\n${event}\r\n`)
    if (--left > 0) return
    clearInterval(timer)
    const usage = 'data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":50}}\n\n'
    socket.write(`${usage.length.toString(16)}\r\n${usage}\r\n0\r\n\r\n`)
  }, Number(interval))
}
