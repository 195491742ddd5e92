// Stores blobs in a bucket of an S3-compatible service. A blob is stored with one request of known
// length: the service has all of it or nothing, so no partial blob needs to be deleted.
import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Scratch } from '../scratch.ts'
import { withStoreErrors, type BlobRange, type BlobStore, type OpenedBlob } from './blobs.ts'

/** The bucket, and how to reach it. */
export interface S3Settings {
  /** Null means Amazon S3. */
  readonly endpoint: URL | null
  readonly bucket: string
  readonly region: string
  /** Null if the machine has its own credentials (a role, for example). */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | null
}

const CONNECT_TIMEOUT_MS = 3000
/** Milliseconds without a byte after which a transfer is aborted. */
const IDLE_TIMEOUT_MS = 30_000
/**
 * Timeout for a response that does not depend on an upload (milliseconds); the request is tried
 * three times.
 */
const RESPONSE_TIMEOUT_MS = 5000
const CHECK_TIMEOUT_MS = 2000

type Sdk = typeof import('@aws-sdk/client-s3')

/**
 * Blobs in a bucket, which `check` creates if it is missing. Files for random access are fetched
 * into `scratch` first.
 */
export async function s3Blobs(
  settings: S3Settings,
  scratch: Scratch,
): Promise<BlobStore & Disposable> {
  // Loaded only if blobs are in a bucket, because it is large.
  return new S3Blobs(await import('@aws-sdk/client-s3'), settings, scratch)
}

class S3Blobs implements BlobStore, Disposable {
  readonly #sdk: Sdk
  readonly #client: InstanceType<Sdk['S3Client']>
  readonly #bucket: string
  readonly #scratch: Scratch

  constructor(sdk: Sdk, settings: S3Settings, scratch: Scratch) {
    this.#sdk = sdk
    this.#client = clientFor(sdk, settings)
    this.#bucket = settings.bucket
    this.#scratch = scratch
  }

  put(id: string, path: string): Promise<void> {
    return withStoreErrors(async () => {
      const { size } = await stat(path)
      const stream = createReadStream(path)
      const object = { Bucket: this.#bucket, Key: id, Body: stream, ContentLength: size }
      try {
        await this.#client.send(new this.#sdk.PutObjectCommand(object))
      } finally {
        stream.destroy()
      }
    })
  }

  open(id: string, range?: BlobRange): Promise<OpenedBlob> {
    return withStoreErrors(() => this.#get(id, range))
  }

  size(id: string): Promise<number> {
    return withStoreErrors(async () => {
      const head = new this.#sdk.HeadObjectCommand({ Bucket: this.#bucket, Key: id })
      const { ContentLength } = await this.#client.send(head, {
        requestTimeout: RESPONSE_TIMEOUT_MS,
      })
      if (ContentLength === undefined) throw new Error(`the object ${id} has no length`)
      return ContentLength
    })
  }

  file(id: string): ReturnType<BlobStore['file']> {
    return withStoreErrors(async () => {
      await using fetching = new AsyncDisposableStack()
      const place = fetching.use(this.#scratch.place())
      const { stream } = await this.#get(id)
      await pipeline(stream, createWriteStream(place.path, { mode: 0o600 }))
      fetching.move()
      return place
    })
  }

  remove(id: string): Promise<void> {
    return withStoreErrors(async () => {
      const remove = new this.#sdk.DeleteObjectCommand({ Bucket: this.#bucket, Key: id })
      await this.#client.send(remove, { requestTimeout: RESPONSE_TIMEOUT_MS })
    })
  }

  check(): Promise<void> {
    return withStoreErrors(async () => {
      const abortSignal = AbortSignal.timeout(CHECK_TIMEOUT_MS)
      try {
        await this.#client.send(new this.#sdk.HeadBucketCommand({ Bucket: this.#bucket }), {
          abortSignal,
        })
      } catch (error) {
        if (!this.#hasStatus(error, 404)) throw error
        await this.#makeBucket(abortSignal)
      }
    })
  }

  [Symbol.dispose](): void {
    this.#client.destroy()
  }

  async #get(id: string, range?: BlobRange): Promise<OpenedBlob> {
    const part = range === undefined ? {} : { Range: `bytes=${range.start}-${range.end}` }
    const { Body, ContentLength } = await this.#client.send(
      new this.#sdk.GetObjectCommand({ Bucket: this.#bucket, Key: id, ...part }),
      { requestTimeout: RESPONSE_TIMEOUT_MS },
    )
    if (!(Body instanceof Readable) || ContentLength === undefined)
      throw new Error(`the response for object ${id} has no bytes or no length`)
    if (range !== undefined && ContentLength !== range.end - range.start + 1) {
      Body.destroy()
      throw new Error(`the response has another range of object ${id} than was requested`)
    }
    return { size: ContentLength, stream: Body }
  }

  async #makeBucket(abortSignal: AbortSignal): Promise<void> {
    try {
      await this.#client.send(new this.#sdk.CreateBucketCommand({ Bucket: this.#bucket }), {
        abortSignal,
      })
    } catch (error) {
      // Another process has just created the bucket. Storing the first blob shows whether it is
      // ours.
      if (!this.#hasStatus(error, 409)) throw error
    }
  }

  #hasStatus(error: unknown, status: number): boolean {
    return (
      error instanceof this.#sdk.S3ServiceException && error.$metadata.httpStatusCode === status
    )
  }
}

function clientFor(
  { S3Client }: Sdk,
  { endpoint, region, credentials }: S3Settings,
): InstanceType<Sdk['S3Client']> {
  return new S3Client({
    region,
    ...(endpoint === null ? {} : { endpoint: endpoint.href, forcePathStyle: true }),
    ...(credentials === null ? {} : { credentials }),
    // Not every server understands a checksum after the body, and one has stored it as part of the
    // object.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Errors are thrown; by default, the client also prints warnings to the console.
    logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: IDLE_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
  })
}
