import type { ServerResponse } from 'node:http'
import type { Outgoing, RawHeaders, Upstream, UpstreamError } from './upstream.ts'

/** What looks at the answer while it passes. None of it can hold it up. */
export type Passing = {
  /** The upstream's head; returns the headers that the caller gets. */
  head(status: number, headers: RawHeaders): RawHeaders
  /** The upstream's trailers; returns those that the caller gets. */
  trailers(raw: RawHeaders): RawHeaders
  /** Body bytes that have just been handed to the caller. */
  body(chunk: Buffer): void
}

/** How a relayed request ended. */
export type Relayed = {
  /**
   * `complete`: the caller got the whole answer. `failed`: there was no answer, and the caller has nothing yet. `broken`: the
   * upstream broke off, and so was the caller's connection. `aborted`: the caller left.
   */
  outcome: 'complete' | 'failed' | 'broken' | 'aborted'
  /** The upstream's status, once its head has arrived. */
  status: number | null
  error: UpstreamError | null
  /** Body bytes: of the request that went up, of the answer that came down. */
  bytesIn: number
  bytesOut: number
}

/**
 * Sends a request upstream and its answer to the caller, piece by piece as it comes, each side at the other's pace. When the
 * caller leaves, the upstream call ends at once; when the upstream breaks off in the middle, so does the caller's connection,
 * because a clean end would be taken for a complete answer.
 */
export function relay(upstream: Upstream, request: Outgoing, res: ServerResponse, passing: Passing): Promise<Relayed> {
  // The caller may have left while its request was looked at: then the upstream hears nothing of it.
  if (res.destroyed) return Promise.resolve({ outcome: 'aborted', status: null, error: null, bytesIn: 0, bytesOut: 0 })
  return new Promise((resolve) => {
    let status: number | null = null
    let bytesOut = 0
    let over = false
    let started = false
    let counted = false
    const end = (outcome: Relayed['outcome'], error: UpstreamError | null = null) => {
      over = true
      res.off('close', onClose)
      resolve({ outcome, status, error, bytesIn: call.bytesSent, bytesOut })
    }
    const onClose = () => {
      if (over) return
      call.abort()
      end('aborted')
    }
    const call = upstream.send(request, {
      onInterim(interim, headers) {
        // Written past the response object, which knows no other interim answers than its own; only where it is this response's turn.
        if (res.headersSent || res.socket === null || res.req.httpVersionMinor === 0) return
        res.socket.write(`HTTP/1.1 ${interim} Interim\r\n${fieldLines(headers)}\r\n`, 'latin1')
      },
      onHead(code, reason, headers) {
        status = code
        // The upstream's own Date passes; none is made up.
        res.sendDate = false
        const passed = passing.head(code, headers)
        counted = hasLength(passed)
        res.writeHead(code, reason, passed)
        // Head and first piece share a write where they came together; otherwise the head does not wait for the body.
        process.nextTick(() => {
          if (!started && !over && !res.writableEnded) res.flushHeaders()
        })
      },
      onBody(lent, last) {
        const chunk = Buffer.from(lent)
        started = true
        bytesOut += chunk.length
        if (last) res.end(chunk)
        else if (!res.write(chunk)) call.pause()
        passing.body(chunk)
      },
      onEnd(trailers) {
        if (trailers.length > 0) res.addTrailers(pairs(passing.trailers(trailers)))
        if (!res.writableEnded) res.end()
        // Only what the caller has taken is complete; until then it may still leave.
        if (res.writableFinished || res.writableLength === 0) return end('complete')
        res.once('finish', () => end('complete'))
      },
      onError(error) {
        if (!res.headersSent) return end('failed', error)
        end('broken', error)
        // What has arrived before the break still goes out.
        setImmediate(() => breakOff(res, counted))
      },
    })
    res.on('drain', () => call.resume())
    res.on('close', onClose)
  })
}

/** Ends the caller's connection so that nobody takes the answer for complete. */
function breakOff(res: ServerResponse, counted: boolean): void {
  // Without a length or chunks (HTTP/1.0) an ordinary close is a complete answer, so it has to be a reset.
  if (counted || res.chunkedEncoding || res.socket === null) res.destroy()
  else res.socket.resetAndDestroy()
}

function hasLength(headers: RawHeaders): boolean {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]!.length === 14 && headers[i]!.toLowerCase() === 'content-length') return true
  }
  return false
}

function fieldLines(headers: RawHeaders): string {
  let lines = ''
  for (let i = 0; i < headers.length; i += 2) lines += `${headers[i]}: ${headers[i + 1]}\r\n`
  return lines
}

function pairs(headers: RawHeaders): [string, string][] {
  const made: [string, string][] = []
  for (let i = 0; i < headers.length; i += 2) made.push([headers[i]!, headers[i + 1]!])
  return made
}
