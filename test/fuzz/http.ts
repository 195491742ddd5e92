// HTTP/1.1 as nobody should send it: requests and responses, mostly right, with whatever servers
// have been confused by.
import type { Chance } from './chance.ts'

/** Pieces that break things. */
export const PIECES = [
  '\r\n',
  '\n',
  '\r',
  '\r\n\r\n',
  '\n\n',
  '\0',
  ' ',
  '\t',
  ':',
  ';',
  ',',
  '0\r\n\r\n',
  'ffffffffffffffff',
  '0x1',
  '\x0b',
  '\xff',
  '%00',
  'Content-Length: 5\r\n',
  'content-length:0\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding : chunked\r\n',
  'Transfer-Encoding:\tchunked\r\n',
  ' chunked',
  'Host: y\r\n',
  'Connection: close\r\n',
  'Expect: 100-continue\r\n',
  'GET /proxy?url=smuggled HTTP/1.1\r\nHost: x\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.0',
  'A'.repeat(300),
]

const FIELDS = [
  'A: b',
  'X-Long: "q", w',
  'Accept: */*',
  'Connection: keep-alive',
  'Connection: close',
  'Connection: x, close',
  'Trailer: T',
  'Keep-Alive: timeout=5',
  'Te: trailers',
  'B:',
  'C: \xe4',
]
const CHUNKS = [
  '5\r\nhello\r\n',
  '1\r\nx\r\n',
  '0a\r\n0123456789\r\n',
  '1;e=v\r\nx\r\n',
  '1;e="v"\r\nx\r\n',
  '1 \r\nx\r\n',
  '1\nx\r\n',
  '2\r\nx\r\n',
]
const ENDS = ['0\r\n\r\n', '0\r\n\r\n', '0\r\n\r\n', '0\r\nT: v\r\n\r\n', '00\r\n\r\n', '0\r\n', '']

/** Lines of fields, and the body that they frame. */
function framed(chance: Chance, bodies: boolean): string {
  const fields = chance.list(4, () => chance.pick(FIELDS))
  let body = ''
  if (bodies && chance.happens(0.8)) {
    if (chance.happens(0.5)) {
      body = 'x'.repeat(chance.below(40))
      fields.push(`Content-Length: ${body.length}`)
    } else {
      body =
        chance
          .list(4, () => chance.pick(CHUNKS.slice(0, chance.happens(0.9) ? 5 : CHUNKS.length)))
          .join('') + chance.pick(ENDS)
      fields.push('Transfer-Encoding: chunked')
    }
  }
  return `${fields.map((field) => `${field}\r\n`).join('')}\r\n${body}`
}

/**
 * One to three requests behind each other, mutated a little more often than not. @param targets
 * what is asked for
 */
export function requests(chance: Chance, targets: readonly string[]): Buffer {
  const one = (): string =>
    `${chance.pick(['GET', 'POST', 'PUT', 'HEAD', 'DELETE'])} ${chance.pick(targets)} HTTP/1.${chance.happens(0.9) ? 1 : 0}\r\nHost: x\r\n${framed(chance, true)}`
  const text = [one(), ...chance.list(2, one)].join('')
  return Buffer.from(chance.happens(0.4) ? text : chance.mutated(text, PIECES), 'latin1')
}

/** A response, perhaps behind interim ones, perhaps with something behind it. */
export function responses(chance: Chance): Buffer {
  const status = chance.pick([
    '200 OK',
    '200 OK',
    '200',
    '204 No Content',
    '304 Not Modified',
    '404 Not Found',
    '500 x',
    '101 Switching',
    '099 x',
    '2000 x',
  ])
  const interim = chance
    .list(2, () =>
      chance.pick(['HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n']),
    )
    .join('')
  const text = `${chance.happens(0.2) ? interim : ''}HTTP/1.${chance.happens(0.9) ? 1 : 0} ${status}\r\n${framed(chance, true)}${chance.happens(0.1) ? chance.pick(PIECES) : ''}`
  return Buffer.from(chance.happens(0.4) ? text : chance.mutated(text, PIECES), 'latin1')
}
