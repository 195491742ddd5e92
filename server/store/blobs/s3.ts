// Stores blobs in a bucket of an S3-compatible service. A blob is stored with one request of known
// length: the service has all of it or nothing, so no partial blob needs to be deleted. Its
// checksum is part of its metadata, because not every service compares checksums.
import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable, Transform, pipeline as connect, type TransformCallback } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { crc32 } from 'node:zlib'
import type { Scratch } from '../scratch.ts'
import { StoreError } from '../store-error.ts'
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
/** The object that a check stores, reads and deletes. */
const TRIAL = 'tollmark-check'
/** The metadata of an object with the CRC-32 of its bytes, as a decimal number. */
const CHECKSUM = 'crc32'

type Sdk = typeof import('@aws-sdk/client-s3')

/**
 * Blobs in a bucket, which `check` creates if it is missing. After a failure to store an object,
 * `check` also stores one, because the right to find a bucket does not include that. Files for
 * random access are fetched into `scratch` first.
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
  /** Whether the last object could not be stored. */
  #isFailing = false

  constructor(sdk: Sdk, settings: S3Settings, scratch: Scratch) {
    this.#sdk = sdk
    this.#client = clientFor(sdk, settings)
    this.#bucket = settings.bucket
    this.#scratch = scratch
  }

  put(id: string, path: string): Promise<void> {
    return withStoreErrors(async () => {
      const { size } = await stat(path)
      const Metadata = { [CHECKSUM]: String(await checksumOf(path)) }
      const stream = createReadStream(path)
      const object = { Bucket: this.#bucket, Key: id, Body: stream, ContentLength: size, Metadata }
      try {
        const { ETag } = await this.#client.send(new this.#sdk.PutObjectCommand(object))
        // A web server at a wrong address may respond to everything with 200.
        if (ETag === undefined)
          throw new Error(`the response to storing object ${id} is not that of an S3 service`)
        this.#isFailing = false
      } catch (error) {
        this.#isFailing = true
        throw error
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
      const { ContentLength } = await this.#reading(
        id,
        this.#client.send(head, { requestTimeout: RESPONSE_TIMEOUT_MS }),
      )
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
        await this.#findBucket(abortSignal)
      } catch (error) {
        if (!this.#hasStatus(error, 404)) throw this.#withStatus(error)
        await this.#makeBucket(abortSignal)
      }
      if (this.#isFailing) await this.#tryOut(abortSignal)
    })
  }

  [Symbol.dispose](): void {
    this.#client.destroy()
  }

  async #get(id: string, range?: BlobRange): Promise<OpenedBlob> {
    const part = range === undefined ? {} : { Range: `bytes=${range.start}-${range.end}` }
    const get = new this.#sdk.GetObjectCommand({ Bucket: this.#bucket, Key: id, ...part })
    const { Body, ContentLength, Metadata } = await this.#reading(
      id,
      this.#client.send(get, { requestTimeout: RESPONSE_TIMEOUT_MS }),
    )
    if (!(Body instanceof Readable) || ContentLength === undefined)
      throw new Error(`the response for object ${id} has no bytes or no length`)
    if (range !== undefined && ContentLength !== range.end - range.start + 1) {
      Body.destroy()
      throw new Error(`the response has another range of object ${id} than was requested`)
    }
    const checksum = range === undefined ? Metadata?.[CHECKSUM] : undefined
    const stream = checksum === undefined ? Body : verified(id, Body, Number(checksum))
    return { size: ContentLength, stream }
  }

  /** The response to a request for an object. @throws StoreError `missing` if there is none */
  async #reading<T>(id: string, response: Promise<T>): Promise<T> {
    try {
      return await response
    } catch (error) {
      if (!(await this.#isMissing(error))) throw error
      throw new StoreError('missing', `the object ${id} is gone`, { cause: error })
    }
  }

  /** Whether an object cannot be read because there is none. */
  async #isMissing(error: unknown): Promise<boolean> {
    if (error instanceof this.#sdk.NoSuchKey) return true
    const abortSignal = AbortSignal.timeout(CHECK_TIMEOUT_MS)
    // Without the right to list a bucket, the response is the same as without the right to read.
    if (this.#hasStatus(error, 403)) return isFulfilled(this.#tryOut(abortSignal))
    // A response to HEAD does not say whether it is the bucket that is missing.
    return this.#hasStatus(error, 404) && isFulfilled(this.#findBucket(abortSignal))
  }

  /** Stores, reads and deletes an object, which takes other rights than to find the bucket. */
  async #tryOut(abortSignal: AbortSignal): Promise<void> {
    const object = { Bucket: this.#bucket, Key: TRIAL }
    await this.#client.send(new this.#sdk.PutObjectCommand({ ...object, Body: 'x' }), {
      abortSignal,
    })
    const { Body } = await this.#client.send(new this.#sdk.GetObjectCommand(object), {
      abortSignal,
    })
    await Body?.transformToByteArray()
    await this.#client.send(new this.#sdk.DeleteObjectCommand(object), { abortSignal })
    this.#isFailing = false
  }

  async #findBucket(abortSignal: AbortSignal): Promise<void> {
    const find = new this.#sdk.HeadBucketCommand({ Bucket: this.#bucket })
    await this.#client.send(find, { abortSignal })
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

  /** A response to HEAD has no body, so the SDK does not know what it says. */
  #withStatus(error: unknown): unknown {
    if (!(error instanceof this.#sdk.S3ServiceException)) return error
    const { httpStatusCode } = error.$metadata
    return new Error(
      `the service responds with status ${httpStatusCode} to a request for the bucket ${this.#bucket}`,
      { cause: error },
    )
  }

  #hasStatus(error: unknown, status: number): boolean {
    return (
      error instanceof this.#sdk.S3ServiceException && error.$metadata.httpStatusCode === status
    )
  }
}

/** Whether a promise is fulfilled in the end. */
function isFulfilled(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => true,
    () => false,
  )
}

async function checksumOf(path: string): Promise<number> {
  let checksum = 0
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>)
    checksum = crc32(piece, checksum)
  return checksum
}

/** The bytes of an object; an error instead of the last ones if their checksum is another. */
function verified(id: string, stored: Readable, checksum: number): Readable {
  // Destroying either destroys both.
  return connect(stored, new ChecksumVerifier(id, checksum), () => {})
}

class ChecksumVerifier extends Transform {
  readonly #id: string
  readonly #expected: number
  #checksum = 0
  /** The last piece so far: without it, a reader never has as many bytes as it was promised. */
  #held: Buffer = Buffer.alloc(0)

  constructor(id: string, expected: number) {
    super()
    this.#id = id
    this.#expected = expected
  }

  override _transform(piece: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#checksum = crc32(piece, this.#checksum)
    const held = this.#held
    this.#held = piece
    done(null, held)
  }

  override _flush(done: TransformCallback): void {
    if (this.#checksum === this.#expected) done(null, this.#held)
    else done(new Error(`the bytes of object ${this.#id} are not those that were stored`))
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
