// Keeps a backup up to date while a server writes to its SQLite file: each full backup has a
// journal, whose pieces are the changes since then, in order. A piece is a changeset
// (sqlite.org/sessionintro.html), compressed, and encrypted if the backup is. PostgreSQL has its
// own tools for that.
import type { KeyObject } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { gunzipSync, gzip } from 'node:zlib'
import { DAY } from '../../common/clock.ts'
import { SetupError } from '../../common/errors.ts'
import type { Config } from '../../config/settings.ts'
import type { Store } from '../store.ts'
import { Connection } from '../sqlite/connection.ts'
import { makeBackup } from './backup.ts'
import { decryptWith, encryptFor } from './encryption.ts'
import { reasonOf } from './failures.ts'
import { openJournal, type BackupReader, type JournalWriter } from './target.ts'

/** The source and the target of the backups, and how often changes are written. */
export interface ShippingOptions {
  readonly store: Store
  readonly storage: Config['storage']
  /** A folder, or `s3://bucket/prefix`. */
  readonly target: string
  /** Encrypts for the owner of this key; null: not encrypted. */
  readonly recipient: KeyObject | null
  /** Milliseconds since 1970. */
  readonly now: () => number
  /**
   * Called when something could not be stored; it will be retried, and reported again only after a
   * success or if it fails in another way.
   */
  readonly onError: (error: unknown) => void
  /** Interval of the pieces (milliseconds). */
  readonly period?: number
}

/**
 * Interval of the pieces (milliseconds): a lost machine loses this much, plus the transfer time.
 */
const PERIOD_MS = 2_000
/** Interval of full backups (milliseconds). */
const FULL_MS = DAY
/**
 * If another process has written, the next full backup waits this many times the duration of the
 * last one, at most a minute, because that process may write all the time.
 */
const PAUSE_FACTOR = 10
const MAX_PAUSE_PERIODS = 30
/**
 * Maximum bytes of pieces that wait for the target, or for a full backup; beyond it, the journal or
 * the full backup is abandoned.
 */
const MAX_WAITING = 256 * 1024 * 1024

/**
 * Makes a full backup now and once a day, and writes the changes every PERIOD_MS. A full backup is
 * also made after another process has written, because its changes are in no piece. Disposing
 * writes the last piece.
 *
 * @throws SetupError on PostgreSQL
 */
export function startShipping(options: ShippingOptions): AsyncDisposable {
  const { takeChanges } = options.store
  if (takeChanges === undefined)
    throw new SetupError(
      'TOLLMARK_BACKUP is for SQLite. On PostgreSQL unset it, and archive the WAL (docs/operations.md).',
    )
  const shipping = new Shipping(options, takeChanges)
  let timer: NodeJS.Timeout | undefined
  let closed = false
  const shipAgain = async (): Promise<void> => {
    await shipping.ship().catch((error: unknown) => shipping.report(error))
    if (closed) return
    timer = setTimeout(() => {
      last = shipAgain()
    }, options.period ?? PERIOD_MS).unref()
  }
  let last = shipAgain()
  return {
    [Symbol.asyncDispose]: async () => {
      closed = true
      clearTimeout(timer)
      await last
      await shipping.close().catch((error: unknown) => shipping.report(error))
    },
  }
}

class Shipping {
  readonly #options: ShippingOptions
  readonly #takeChanges: NonNullable<Store['takeChanges']>
  readonly #stopping = new AbortController()
  readonly #period: number
  /** The journal of the last full backup; null if the current changes do not continue it. */
  #journal: JournalWriter | null = null
  #pieces = 0
  /** Compressed pieces that the journal does not have yet. */
  #unsent: Buffer[] = []
  /** The full backup in progress, and the pieces since it began; null if some were missed. */
  #making: Promise<void> | undefined
  #since: Buffer[] | null = null
  #tried = -Infinity
  #took = 0
  /** The failure that was reported last; null after a success. */
  #reported: string | null = null

  constructor(options: ShippingOptions, takeChanges: NonNullable<Store['takeChanges']>) {
    this.#options = options
    this.#takeChanges = takeChanges
    this.#period = options.period ?? PERIOD_MS
  }

  report(error: unknown): void {
    if (String(error) === this.#reported) return
    this.#reported = String(error)
    this.#options.onError(error)
  }

  /** Writes the changes, and starts a full backup if one is due. */
  async ship(): Promise<void> {
    const { whole, changes } = await this.#takeChanges()
    if (!whole) {
      this.#since = null
      await this.#leaveJournal()
    } else if (changes.length > 0) await this.#keep(await promisify(gzip)(changes))
    this.#beginFullBackup()
    await this.#send()
  }

  async #keep(piece: Buffer): Promise<void> {
    this.#since?.push(piece)
    if (sizeOf(this.#since ?? []) > MAX_WAITING) {
      this.#since = null
      this.report(new Error('too much is written to complete a full backup'))
    }
    if (this.#journal !== null) this.#unsent.push(piece)
    if (sizeOf(this.#unsent) > MAX_WAITING) await this.#leaveJournal()
  }

  /** Writes the last piece. Abandons a full backup in progress. */
  async close(): Promise<void> {
    this.#stopping.abort(new Error('the server stops'))
    await this.#making
    await this.ship()
    await this.#leaveJournal()
  }

  #beginFullBackup(): void {
    const now = performance.now()
    const pause =
      this.#journal === null
        ? Math.min(PAUSE_FACTOR * this.#took, MAX_PAUSE_PERIODS * this.#period)
        : FULL_MS
    if (this.#making !== undefined || this.#stopping.signal.aborted || now - this.#tried < pause)
      return
    this.#tried = now
    this.#since = []
    this.#making = this.#makeFullBackup()
      .catch((error: unknown) => {
        if (!this.#stopping.signal.aborted) this.report(error)
      })
      .finally(() => {
        this.#took = performance.now() - now
        this.#making = undefined
      })
  }

  async #makeFullBackup(): Promise<void> {
    const { storage, target, recipient, now } = this.#options
    const { location } = await makeBackup({
      storage,
      target,
      recipient,
      env: {},
      now: now(),
      signal: this.#stopping.signal,
    })
    const journal = await openJournal(location, storage)
    this.#reported = null
    const since = this.#since
    // Another process has written meanwhile, and the journal lacks those changes.
    if (since === null) return journal[Symbol.asyncDispose]()
    await this.#leaveJournal()
    this.#journal = journal
    this.#unsent = since
    this.#since = null
    this.#pieces = 0
  }

  async #leaveJournal(): Promise<void> {
    const journal = this.#journal
    this.#journal = null
    this.#unsent = []
    await journal?.[Symbol.asyncDispose]()
  }

  async #send(): Promise<void> {
    for (;;) {
      const journal = this.#journal
      const [piece] = this.#unsent
      if (journal === null || piece === undefined) return
      try {
        await journal.put(this.#pieces + 1, this.#sealed(piece))
      } catch (error) {
        if (journal === this.#journal) throw error
      }
      // A full backup was completed meanwhile; its own journal has the changes that this one may
      // lack.
      if (journal !== this.#journal) continue
      this.#unsent.shift()
      this.#pieces++
      this.#reported = null
    }
  }

  #sealed(piece: Buffer): AsyncIterable<Buffer> {
    const { recipient } = this.#options
    return recipient === null ? once(piece) : encryptFor(recipient, once(piece))
  }
}

const sizeOf = (pieces: readonly Buffer[]): number =>
  pieces.reduce((sum, one) => sum + one.length, 0)

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

/**
 * Applies the journal of a backup to its database file, which no other process may have open.
 *
 * @returns the number of pieces applied
 * @throws SetupError if a piece is missing, damaged or cannot be read; the database is then
 * unusable
 */
export async function applyJournal(
  reader: BackupReader,
  path: string,
  identity: KeyObject | null,
  signal: AbortSignal,
): Promise<number> {
  let connection: Connection | undefined
  try {
    for (let number = 1; ; number++) {
      signal.throwIfAborted()
      const piece = await pieceOf(reader, number)
      if (piece === null) {
        if ((await pieceOf(reader, number + 1)) !== null) throw damaged(number)
        return number - 1
      }
      connection ??= new Connection(path, 'write')
      const changes = opened(
        identity === null ? piece : await buffer(decryptWith(identity, once(piece))),
      )
      if (changes === null || !connection.applyChanges(changes)) throw damaged(number)
    }
  } finally {
    connection?.close()
  }
}

async function pieceOf(reader: BackupReader, number: number): Promise<Buffer | null> {
  try {
    return await reader.piece(number)
  } catch (error) {
    throw new SetupError(
      `Piece ${number} of the backup's journal cannot be read (${reasonOf(error)}).`,
      { cause: error },
    )
  }
}

const damaged = (number: number): SetupError =>
  new SetupError(`Piece ${number} of the backup's journal is missing or damaged.`)

/** Decompresses a piece. Null if a byte was changed or is missing: gzip has a checksum. */
function opened(bytes: Buffer): Buffer | null {
  try {
    return gunzipSync(bytes)
  } catch {
    return null
  }
}
