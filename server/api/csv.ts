// Streams reports as text, and as CSV (RFC 4180) for spreadsheets.

/** Headers of a CSV response; a browser saves it under this file name. */
export function csvHeaders(file: string) {
  return {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${file}"`,
  }
}

/**
 * Columns in the order of a CSV: those that it has had from the start, then newer ones, because
 * programs may read them by position.
 */
export function newestLast<Column extends string>(
  first: readonly Column[],
  all: readonly Column[],
): Column[] {
  return [...new Set([...first, ...all])]
}

/** The header line of a CSV. */
export function csvHead(columns: readonly string[]): string {
  return `${columns.join(',')}\r\n`
}

/** Bytes per chunk; larger chunks would be copied by the megabyte. */
const CHUNK_BYTES = 65_536

/**
 * A response body that is generated while it is read.
 *
 * @param head the first text of the body
 * @param next generates the next text once the previous one was taken; null at the end. If it
 *   throws, the connection is reset
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

/** Returns the bytes once, then null. */
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
