// Blobs in a bucket of an S3-compatible store. A blob is put with one request whose length is known
// beforehand: the store has it whole or not at all, and nothing half-done is left to clear away.
import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Scratch } from '../scratch.ts'
import { told, type BlobRange, type BlobStore, type OpenedBlob } from './blobs.ts'

export interface S3Settings {
  /** Null is Amazon's own. */
  readonly endpoint: URL | null
  readonly bucket: string
  readonly region: string
  /** Null where the machine has credentials of its own (a role, for example). */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | null
}

const CONNECT_TIMEOUT = 3000
/** Milliseconds without a byte after which a transfer is given up. */
const IDLE_TIMEOUT = 30_000
/** Milliseconds until an answer begins that follows no file; it is asked for three times. */
const ANSWER_TIMEOUT = 5000
const CHECK_TIMEOUT = 2000

/**
 * Blobs in a bucket, which `check` makes where it is missing. Files that are read at any place are
 * fetched into `scratch` first.
 */
export async function s3Blobs(
  { endpoint, bucket, region, credentials }: S3Settings,
  scratch: Scratch,
): Promise<BlobStore & Disposable> {
  const s3 = await import('@aws-sdk/client-s3')
  const client = new s3.S3Client({
    region,
    ...(endpoint === null ? {} : { endpoint: endpoint.href, forcePathStyle: true }),
    ...(credentials === null ? {} : { credentials }),
    // A checksum that trails the body is not understood by every server, and one has stored it as
    // part of the object.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // What goes wrong is thrown. Left alone it warns on the console besides.
    logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT,
      socketTimeout: IDLE_TIMEOUT,
      throwOnRequestTimeout: true,
    },
  })
  const open = async (id: string, range?: BlobRange): Promise<OpenedBlob> => {
    const part = range === undefined ? {} : { Range: `bytes=${range.start}-${range.end}` }
    const { Body, ContentLength } = await client.send(
      new s3.GetObjectCommand({ Bucket: bucket, Key: id, ...part }),
      { requestTimeout: ANSWER_TIMEOUT },
    )
    if (!(Body instanceof Readable) || ContentLength === undefined)
      throw new Error(`the object ${id} came without bytes or length`)
    if (range !== undefined && ContentLength !== range.end - range.start + 1) {
      Body.destroy()
      throw new Error(`another range of the object ${id} came than was asked for`)
    }
    return { size: ContentLength, stream: Body }
  }

  return {
    put: (id, path) =>
      told(async () => {
        const { size } = await stat(path)
        const stream = createReadStream(path)
        try {
          await client.send(
            new s3.PutObjectCommand({ Bucket: bucket, Key: id, Body: stream, ContentLength: size }),
          )
        } finally {
          stream.destroy()
        }
      }),
    open: (id, range) => told(() => open(id, range)),
    size: (id) =>
      told(async () => {
        const head = new s3.HeadObjectCommand({ Bucket: bucket, Key: id })
        const { ContentLength } = await client.send(head, { requestTimeout: ANSWER_TIMEOUT })
        if (ContentLength === undefined) throw new Error(`the object ${id} has no length`)
        return ContentLength
      }),
    file: (id) =>
      told(async () => {
        await using fetching = new AsyncDisposableStack()
        const place = fetching.use(scratch.place())
        const { stream } = await open(id)
        await pipeline(stream, createWriteStream(place.path, { mode: 0o600 }))
        fetching.move()
        return place
      }),
    remove: (id) =>
      told(
        async () =>
          void (await client.send(new s3.DeleteObjectCommand({ Bucket: bucket, Key: id }), {
            requestTimeout: ANSWER_TIMEOUT,
          })),
      ),
    check: () =>
      told(async () => {
        const abortSignal = AbortSignal.timeout(CHECK_TIMEOUT)
        try {
          await client.send(new s3.HeadBucketCommand({ Bucket: bucket }), { abortSignal })
        } catch (error) {
          if (!(error instanceof s3.S3ServiceException && error.$metadata.httpStatusCode === 404))
            throw error
          await client
            .send(new s3.CreateBucketCommand({ Bucket: bucket }), { abortSignal })
            .catch((refused: unknown) => {
              // Another process has just made it. That it is ours, the first blob tells.
              if (
                !(
                  refused instanceof s3.S3ServiceException &&
                  refused.$metadata.httpStatusCode === 409
                )
              )
                throw refused
            })
        }
      }),
    [Symbol.dispose]: () => client.destroy(),
  }
}
