// The clients of the socket bench, in their own process: PORT SOCKETS SECONDS PATH [HEADER …]. Each
// sends a frame every 20 ms and reads the replies; with SECONDS 0 it only stays open until told to
// stop. Prints one line of JSON when all are open, and one when the time is up.
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { RESPONSE, RESPONSE_STAMP_AT, FRAME, STAMP_AT, STAMP_BYTES } from './frames.ts'

const [port = '0', sockets = '1', seconds = '1', path = '/', ...headers] = process.argv.slice(2)
const PACE_MS = 20
/** Concurrent handshakes. */
const AT_ONCE = 50
const delays: number[] = []
let frames = 0

const head =
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
  `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n`
const now = (): number => Number(process.hrtime.bigint() / 1000n)

/** Opens a socket. @returns the function that starts sending */
async function open(): Promise<() => void> {
  const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true })
  socket.on('error', () => {})
  socket.write(head)
  let isOpen = false
  let waiting: Buffer = Buffer.alloc(0)
  await new Promise<void>((resolve, reject) => {
    socket.on('close', () => reject(new Error('a socket was closed')))
    socket.on('data', (bytes: Buffer) => {
      waiting = waiting.length === 0 ? bytes : Buffer.concat([waiting, bytes])
      if (!isOpen) {
        const end = waiting.indexOf('\r\n\r\n')
        if (end < 0) return
        if (!waiting.toString('latin1', 0, 12).endsWith('101'))
          return reject(new Error(waiting.toString('latin1')))
        isOpen = true
        waiting = waiting.subarray(end + 4)
        resolve()
      }
      let at = 0
      for (; at + RESPONSE.length <= waiting.length; at += RESPONSE.length) {
        const from = at + RESPONSE_STAMP_AT
        delays.push(now() - Number(waiting.toString('latin1', from, from + STAMP_BYTES)))
        frames++
      }
      waiting = waiting.subarray(at)
    })
  })
  return () => {
    const frame = Buffer.from(FRAME)
    setInterval(() => {
      frame.write(String(now()).padStart(STAMP_BYTES, '0'), STAMP_AT, 'latin1')
      socket.write(Buffer.from(frame))
    }, PACE_MS)
  }
}

const all: (() => void)[] = []
while (all.length < Number(sockets))
  all.push(
    ...(await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, Number(sockets) - all.length) }, open),
    )),
  )
console.log(JSON.stringify({ open: all.length }))
if (seconds === '0') await sleep(3_600_000)
for (const send of all) {
  setTimeout(send, Math.random() * PACE_MS)
}
await sleep(Number(seconds) * 1000)
const sorted = delays.toSorted((a, b) => a - b)
const at = (part: number): number => sorted[Math.floor(sorted.length * part)]! / 1000
console.log(JSON.stringify({ frames, p50: at(0.5), p99: at(0.99) }))
process.exit(0)
