// A provider that remembers every model that it was asked for: callers name each request by its
// model, so that the ledger can be held against it.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface RememberingUpstream extends AsyncDisposable {
  readonly origin: string
  /** How often each model was asked for. */
  readonly asked: ReadonlyMap<string, number>
}

const USAGE = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 }

/**
 * Responds like OpenAI's chat completions: at once, or as a stream of ten events over a fifth of a
 * second.
 */
export async function startUpstream(): Promise<RememberingUpstream> {
  const asked = new Map<string, number>()
  // It keeps idle connections: a request that meets the close of one is rightly a 502.
  const server = createServer({ keepAliveTimeout: 600_000 }, (req, res) => {
    const pieces: Buffer[] = []
    req.on('data', (piece: Buffer) => pieces.push(piece))
    req.on('error', () => {})
    req.on('end', () => {
      const { model, stream } = JSON.parse(Buffer.concat(pieces).toString()) as {
        model: string
        stream?: boolean
      }
      asked.set(model, (asked.get(model) ?? 0) + 1)
      if (!stream)
        return void res
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ model, choices: [], usage: USAGE }))
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      void (async () => {
        for (let i = 0; i < 10 && !res.destroyed; i++) {
          res.write(
            `data: ${JSON.stringify({ choices: [{ delta: { content: `word ${i}` } }] })}\n\n`,
          )
          await sleep(20)
        }
        res.end(`data: ${JSON.stringify({ choices: [], usage: USAGE })}\n\ndata: [DONE]\n\n`)
      })()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
