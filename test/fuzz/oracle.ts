// What Node's own server reads out of bytes.
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { duplexPair } from 'node:stream'

/** The requests that Node's server takes whole, in their order. */
export async function nodesRequests(bytes: Buffer): Promise<{ head: string; body: string }[]> {
  const found: { head: string; body: string }[] = []
  const server = createServer((incoming: IncomingMessage, outgoing) => {
    let body = ''
    incoming.on('data', (piece: Buffer) => (body += piece.toString('latin1')))
    incoming.on('error', () => {})
    incoming.on('end', () => {
      found.push({
        head: JSON.stringify([incoming.method, incoming.url, incoming.rawHeaders]),
        body,
      })
      outgoing.end()
    })
  })
  server.on('checkContinue', (incoming, outgoing) => server.emit('request', incoming, outgoing))
  // What came before the error is reported first.
  server.on('clientError', (_, socket) => setImmediate(() => setImmediate(() => socket.destroy())))
  const [near, far] = duplexPair()
  server.emit('connection', near)
  near.on('error', () => {})
  far.on('error', () => {}).resume()
  far.end(bytes)
  await once(near, 'close')
  return found
}
