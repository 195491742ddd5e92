// The callers of the bench, in a process of their own. Prints one line of JSON when the time is over.
import { connect } from 'node:net'

const [mode = 'requests', port = '0', connections = '32', seconds = '5', path = '/', authorization = ''] = process.argv.slice(2)
const body = JSON.stringify({ model: 'gpt-5', messages: [{ role: 'user', content: 'x'.repeat(960) }] }).padEnd(1024)
const request = Buffer.from(
  `POST ${path} HTTP/1.1\r\nHost: localhost:${port}\r\n${authorization ? `Authorization: Bearer ${authorization}\r\n` : ''}` +
    `Content-Type: application/json\r\nUser-Agent: ai-sdk/6.0\r\nAccept: */*\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
)
let done = 0
let over = false
const delays: number[] = []

for (let i = 0; i < Number(connections); i++) (mode === 'requests' ? callAgain : listen)()
setTimeout(() => {
  over = true
  delays.sort((a, b) => a - b)
  const at = (share: number) => delays[Math.floor(delays.length * share)] ?? 0
  console.log(JSON.stringify({ done, events: delays.length, p50: at(0.5) / 1000, p99: at(0.99) / 1000 }))
  setTimeout(() => process.exit(0), 50)
}, Number(seconds) * 1000)

/** One keep-alive connection that asks again as soon as it is answered. */
function callAgain(): void {
  const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true }, () => socket.write(request))
  let expected = 0
  let got = 0
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
    done++
    if (!over) socket.write(request)
  })
}

/** One connection that opens stream after stream, and notes how old each event is when it arrives. */
function listen(): void {
  const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true }, () => socket.write(request))
  socket.on('error', fail)
  socket.on('data', (bytes) => {
    const now = Number(process.hrtime.bigint() / 1000n)
    const text = bytes.toString('latin1')
    for (const [, at] of text.matchAll(/"at":(\d+)/g)) delays.push(now - Number(at))
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
