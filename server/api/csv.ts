// Reports on their way to a caller; CSV (RFC 4180) is for people's spreadsheets.

/** The headers of such a table, which a browser saves as a file of this name. */
export function csvHeaders(file: string) {
  return {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${file}"`,
  }
}

/** The first line of such a table. */
export function csvHead(columns: readonly string[]): string {
  return `${columns.join(',')}\r\n`
}

/** Bytes handed on at once: in larger pieces they would be copied by the megabyte. */
const CHUNK_BYTES = 65_536

/**
 * A body that is made as it is read.
 *
 * @param head what it begins with
 * @param next the following bytes, when those before are on their way; null behind the last ones.
 *   Where it throws, the connection is reset
 */
export function streamText(
  head: string,
  next: () => Promise<Uint8Array<ArrayBuffer> | null>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let rest: Uint8Array<ArrayBuffer> | null = new TextEncoder().encode(head)
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        while (rest !== null && rest.length === 0) rest = await next()
        if (rest === null) return controller.close()
        controller.enqueue(rest.subarray(0, CHUNK_BYTES))
        rest = rest.subarray(CHUNK_BYTES)
      },
    },
    { highWaterMark: 0 },
  )
}

/** These bytes, and then nothing. */
export function once(
  bytes: Uint8Array<ArrayBuffer>,
): () => Promise<Uint8Array<ArrayBuffer> | null> {
  let given = false
  return async () => {
    if (given) return null
    given = true
    return bytes
  }
}
