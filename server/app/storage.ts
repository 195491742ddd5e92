// Opens the storage of a process: the store, its instance row, scratch files and blobs; deletes
// what has expired once a minute.
import { join } from 'node:path'
import type { Log } from '../common/log.ts'
import type { Config } from '../config/settings.ts'
import { sweepJobs } from '../conversion/jobs/end-job.ts'
import { deleteEndedChildren } from '../keys/children.ts'
import { sweepBlobs, type BlobStore } from '../store/blobs/blobs.ts'
import { openBlobs } from '../store/blobs/open.ts'
import { enterInstance, type Instance } from '../store/instance.ts'
import { readPem } from '../store/backup/backup.ts'
import { readRecipient } from '../store/backup/encryption.ts'
import { startShipping } from '../store/backup/journal.ts'
import { prepareTarget } from '../store/backup/target.ts'
import type { Store } from '../store/store.ts'
import { openScratch, type Scratch } from '../store/scratch.ts'
import { openStoreBySettings } from './open-store.ts'

/** All storage that outlives a request. Closed with the stack that it was opened on. */
export interface Storage {
  readonly store: Store
  readonly instance: Instance
  readonly scratch: Scratch
  readonly blobs: BlobStore
}

/**
 * Opens the storage of a process.
 *
 * @param opening the store, if it is already being opened
 * @throws SetupError if the store cannot be opened, or the folder of backups cannot be written
 */
export async function openStorage(
  { server, storage }: Pick<Config, 'server' | 'storage'>,
  log: Log,
  clock: () => number,
  starting: AsyncDisposableStack,
  opening?: Promise<Store>,
): Promise<Storage> {
  const { data } = storage

  const store = starting.use(await (opening ?? openStoreBySettings(storage, log, clock())))
  const onLateHeartbeat = (error: unknown): void =>
    log.error('the heartbeat of this instance cannot be stored', error)
  const instance = starting.use(await enterInstance(store, clock, onLateHeartbeat, server.role))
  const living = async (): Promise<string[]> =>
    (await store.db.selectFrom('instances').select('id').execute()).map((row) => row.id)
  const scratch = starting.use(await openScratch(join(data, 'scratch'), instance.id, living))
  const blobs = await openBlobs(storage, scratch, starting)
  await blobs.check().catch((error: unknown) => log.error('blobs cannot be stored now', error))
  const sweep = async (): Promise<void> => {
    await store.run(sweepJobs, { now: clock() })
    await sweepBlobs(store, blobs, clock())
    await deleteEndedChildren(store, clock())
  }
  starting.use(
    every(SWEEP_MS, sweep, (error) => log.error('expired data could not be deleted', error)),
  )
  if (storage.backup !== null) {
    await prepareTarget(storage.backup)
    starting.use(
      startShipping({
        store,
        storage,
        target: storage.backup,
        recipient:
          storage.backupRecipient === null
            ? null
            : readRecipient(await readPem('TOLLMARK_BACKUP_RECIPIENT', storage.backupRecipient)),
        now: clock,
        onError: (error) => log.error('the backup is behind', error),
      }),
    )
  }
  return { store, instance, scratch, blobs }
}

/** Interval of the sweep that deletes what has expired and what killed processes left behind. */
const SWEEP_MS = 60_000

/**
 * Runs a task now and then at a fixed interval, and reports failures. Dispose of it to stop: a run
 * in progress may then find the store closed, which is not reported.
 */
function every(
  intervalMs: number,
  task: () => Promise<void>,
  onError: (error: unknown) => void,
): Disposable {
  let stopped = false
  const runTask = (): void =>
    void task().catch((error: unknown) => {
      if (!stopped) onError(error)
    })
  runTask()
  const timer = setInterval(runTask, intervalMs).unref()
  return {
    [Symbol.dispose]: () => {
      stopped = true
      clearInterval(timer)
    },
  }
}
