// The file in the data folder to which a process writes its admissions while the store is away: a
// header with its owner, then reservations and settlements in order. Its own process replays it
// when the outage is over; if that process was killed, any process on the same data folder does.
// Replaying is idempotent, because ids are unique in the ledger. So a live process's file may be
// replayed, too, but is not deleted.
import type { Log } from '../../common/log.ts'
import { isAlive, processSpace, type InstanceIdentity } from '../../store/instance.ts'
import type { Store } from '../../store/store.ts'
import { listLogs, logPath, readLog, removeLog, SyncedLog } from '../../store/synced-log.ts'
import { writeInOrder } from '../settlement/ordered-writes.ts'
import type { Reservation, Settlement } from '../settlement/row-codec.ts'
import type { AdmissionBackend } from './backend.ts'

/** Rows per transaction of a replay. */
export const MAX_BATCH = 1_000

/** A row that was admitted without the store, with its settlement once it has ended. */
export interface BacklogRow {
  readonly row: Reservation
  /** `seq` and `created_at` are filled in when the row is in the ledger. */
  settlement: Settlement | null
}

type Header = InstanceIdentity & { readonly boot: number }
type Line =
  | { readonly header: Header }
  | { readonly row: Reservation }
  | { readonly settles: string; readonly settlement: Settlement }

/** The outage file of one process. */
export class OutageLog {
  readonly #log: SyncedLog

  /** @param folder the folder of these files; created when it is needed */
  constructor(folder: string, instance: string, boot: number) {
    const header: Header = { id: instance, host: processSpace(), pid: process.pid, boot }
    this.#log = new SyncedLog(logPath(folder, instance), toLine({ header }))
  }

  get path(): string {
    return this.#log.path
  }

  /** Whether the last line that was written is durable; false before the first. */
  get isProven(): boolean {
    return this.#log.isProven
  }

  /** Resolves when the file is known to be writable. @throws StoreError `full` or `unavailable` */
  prove(): Promise<void> {
    return this.#log.prove()
  }

  /** Resolves when the reservation is durable. @throws StoreError `full` or `unavailable` */
  reserve(row: Reservation): Promise<void> {
    return this.#log.append(toLine({ row }))
  }

  /**
   * Appends how a row ended. If this fails, the only loss is that the row's outcome stays unknown
   * after a kill.
   */
  settle(id: string, settlement: Settlement): void {
    void this.#log.append(toLine({ settles: id, settlement })).catch(() => {})
  }

  /** Resolves when everything so far is durable or has failed. */
  idle(): Promise<void> {
    return this.#log.idle()
  }

  /** Deletes the file: everything in it is in the ledger. */
  remove(): Promise<void> {
    return this.#log.remove()
  }

  /** Leaves the file to the next process on this data folder. */
  close(): Promise<void> {
    return this.#log.close()
  }
}

function toLine(line: Line): string {
  return JSON.stringify(line)
}

/** The contents of a process's file. */
interface OutageFile {
  /** Null if the header is missing, so nothing was acknowledged. */
  readonly header: Header | null
  readonly rows: BacklogRow[]
  readonly torn: number
}

async function readOutageFile(path: string): Promise<OutageFile> {
  const { lines, torn } = await readLog(path)
  const rows = new Map<string, BacklogRow>()
  let header: Header | null = null
  for (const text of lines) {
    const line = JSON.parse(text) as Line // its checksum says that `toLine` made it
    if ('header' in line) ({ header } = line)
    else if ('row' in line) rows.set(line.row.id, { row: line.row, settlement: null })
    else {
      const found = rows.get(line.settles)
      if (found !== undefined) found.settlement = line.settlement
    }
  }
  return { header, rows: [...rows.values()], torn }
}

/** Dependencies of replaying outage files. */
export interface ReplayParts {
  readonly store: Store
  readonly backend: AdmissionBackend
  readonly log: Log
  readonly folder: string
  /** This process's own instance, whose file is skipped. */
  readonly instance: string
}

/**
 * Replays the files of other processes on this data folder into the ledger, and deletes those of
 * dead processes.
 *
 * @param which `all` includes the files of live processes: a starting process must know their
 *   admissions before it admits anything itself
 * @throws StoreError for transient errors; the files stay
 */
export async function replayOutageFiles(parts: ReplayParts, which: 'all' | 'dead'): Promise<void> {
  const { store, log, folder, instance } = parts
  for (const { id, path } of await listLogs(folder)) {
    if (id === instance) continue
    const file = await readOutageFile(path).catch(() => null) // another process was faster
    if (file === null) continue
    const alive = await isAlive(store, file.header ?? { id, host: '', pid: 0 })
    if (alive && which === 'dead') continue
    await replay(parts, file)
    if (alive) continue
    await removeLog(path)
    if (file.rows.length === 0) continue
    log.warn(
      'A process ended during an outage of the database; its requests are now in the ledger.',
      {
        requests: file.rows.length,
        ...(file.torn > 0 ? { torn_lines: file.torn } : {}),
      },
    )
  }
}

async function replay({ backend, log }: ReplayParts, { header, rows }: OutageFile): Promise<void> {
  if (header === null || rows.length === 0) return
  await writeInOrder(
    [...rows],
    MAX_BATCH,
    async (batch) => {
      await recordBacklog(backend, batch, { instance: header.id, boot: header.boot })
    },
    ({ row }, error) =>
      log.error(
        `The request ${row.id}, admitted during an outage of the database, cannot be written.`,
        error,
      ),
  )
}

/**
 * Inserts rows that were admitted without the store, and settles those that have ended.
 *
 * @param onRecorded called with each row's `seq` before any is settled
 */
export async function recordBacklog<R extends BacklogRow>(
  backend: AdmissionBackend,
  batch: readonly R[],
  origin?: { instance: string; boot: number },
  onRecorded: (row: R, seq: number) => void = () => {},
): Promise<void> {
  const seqs = await backend.recordAdmitted(
    batch.map(({ row }) => row),
    origin,
  )
  const ended: Settlement[] = []
  for (const [at, one] of batch.entries()) {
    const seq = seqs[at]
    if (seq === undefined) continue
    if (one.settlement !== null)
      ended.push({ ...one.settlement, seq, created_at: one.row.created_at })
    onRecorded(one, seq)
  }
  if (ended.length > 0) await backend.settle(ended)
}
