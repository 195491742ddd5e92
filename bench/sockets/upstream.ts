// The provider of the socket bench: PORT [CERTIFICATE KEY]. As cheap as possible in Node: accepts
// every handshake, and replies to each frame of a load (load.ts) with one that has the same
// timestamp.
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { RESPONSE, RESPONSE_STAMP_AT, FRAME_BYTES, STAMP_AT, STAMP_BYTES } from './frames.ts'

const [port = '0', certificate, key] = process.argv.slice(2)

function serve(socket: Socket): void {
  socket.setNoDelay(true)
  let head: string | null = ''
  let waiting: Buffer = Buffer.alloc(0)
  socket.on('error', () => {})
  socket.on('data', (bytes: Buffer) => {
    if (head !== null) {
      head += bytes.toString('latin1')
      if (!head.includes('\r\n\r\n')) return
      const [, nonce = ''] = /sec-websocket-key: (\S+)/i.exec(head) ?? []
      const accept = hash('sha1', `${nonce}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`, 'base64')
      head = null
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
      )
      return
    }
    waiting = waiting.length === 0 ? bytes : Buffer.concat([waiting, bytes])
    let at = 0
    for (; at + FRAME_BYTES <= waiting.length; at += FRAME_BYTES) {
      const response = Buffer.from(RESPONSE)
      // The loads mask with zeros, so no unmasking is needed.
      waiting.copy(response, RESPONSE_STAMP_AT, at + STAMP_AT, at + STAMP_AT + STAMP_BYTES)
      socket.write(response)
    }
    waiting = waiting.subarray(at)
  })
}

const server =
  certificate === undefined || key === undefined
    ? createServer(serve)
    : createTlsServer({ cert: readFileSync(certificate), key: readFileSync(key) }, serve)
server.listen(Number(port), '127.0.0.1')
