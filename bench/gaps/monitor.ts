// Measures the longest gap in a stream through the proxy, and in one through a plain relay
// (bench/proxy/relay.ts): PORT PATH KEY CONTROL-PORT. `begin` resets it, `end` prints the result.
import { connect } from 'node:net'

/** Milliseconds. */
export interface Gaps {
  proxied: number
  control: number
}

const [port = '0', path = '/', key = '', control = '0'] = process.argv.slice(2)
const BODY = '{"model":"watched","stream":true,"messages":[]}'

/** Reads a stream forever. @returns a function that gives the longest gap since its last call */
function watch(port: number, path: string, headers: string): () => number {
  let last = 0
  let longest = 0
  const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => {
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}Content-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
    )
  })
  socket.on('data', (bytes) => {
    if (last === 0 && !bytes.toString('latin1').startsWith('HTTP/1.1 200'))
      throw new Error(`the stream was refused: ${bytes.toString('latin1')}`)
    const now = performance.now()
    if (last > 0) longest = Math.max(longest, now - last)
    else if (--begun === 0) process.send?.('ready')
    last = now
  })
  socket.on('error', (error) => fail(error))
  socket.on('close', () => fail(new Error('the stream ended')))
  return () => {
    // An unfinished gap counts with its length so far.
    const found = Math.max(longest, performance.now() - last)
    longest = 0
    return found
  }
}

function fail(error: Error): never {
  console.error(`monitor: ${error.message}`)
  process.exit(1)
}

let begun = 2
const proxied = watch(Number(port), path, `Authorization: Bearer ${key}\r\n`)
const alone = watch(Number(control), '/proxy/v1/chat/completions', '')
process.on('message', (what) => {
  const gaps: Gaps = { proxied: proxied(), control: alone() }
  if (what === 'end') process.send?.(gaps)
})
process.on('disconnect', () => process.exit(0))
