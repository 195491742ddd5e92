// Sends a request on its own connection and reads the response.
import {
  request,
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http'

export interface ReceivedResponse {
  status: number
  headers: IncomingMessage['headers']
  text: string
  bytes: Buffer
  /** The body as JSON; the test knows its shape. */
  json: <T = Record<string, unknown>>() => T
}

export interface Call {
  method?: string
  token?: string | undefined
  headers?: OutgoingHttpHeaders
  body?: Buffer | string
}

/** Starts a request whose body the test sends. */
export function start(
  url: string,
  path: string,
  { method = 'POST', token, headers = {} }: Call = {},
): ClientRequest {
  return request(url + path, {
    method,
    agent: false,
    headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
  })
}

/** The response to a request; rejects if the connection ends without one. */
export async function responseOf(outgoing: ClientRequest): Promise<ReceivedResponse> {
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve)
    outgoing.once('error', reject)
    outgoing.once('close', () => reject(new Error('the connection was closed without a response')))
  })
  const pieces: Buffer[] = []
  for await (const piece of incoming) pieces.push(piece as Buffer)
  const bytes = Buffer.concat(pieces)
  const text = bytes.toString('utf8')
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    text,
    bytes,
    json: <T>() => JSON.parse(text) as T,
  }
}
