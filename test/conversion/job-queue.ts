// A store with an account and its jobs, and workers on it, without a server.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createJobNotifications } from '../../server/conversion/jobs/notifications.ts'
import { createConversionQueue } from '../../server/conversion/queue.ts'
import { openConverterPool } from '../../server/conversion/pool/converter-pool.ts'
import { enterJob, newJob } from '../../server/conversion/jobs/enter-job.ts'
import { KeptWorkspaces } from '../../server/conversion/kept-workspaces.ts'
import type { EndedJobs } from '../../server/conversion/jobs/waiting-jobs.ts'
import { startWorker } from '../../server/conversion/jobs/worker.ts'
import { newId } from '../../server/common/ids.ts'
import { openLog } from '../../server/common/log.ts'
import { keepBlob } from '../../server/store/blobs/blobs.ts'
import type { BlobStore } from '../../server/store/blobs/blobs.ts'
import { folderBlobs } from '../../server/store/blobs/folder.ts'
import { enterInstance } from '../../server/store/instance.ts'
import type { Instance } from '../../server/store/instance.ts'
import { openStore } from '../../server/store/open.ts'
import type { Store } from '../../server/store/store.ts'
import { procedure } from '../../server/store/procedure.ts'
import type { JobRow } from '../../server/store/schema.ts'
import { openScratch } from '../../server/store/scratch.ts'
import { temporaryFolder } from '../support/temporary.ts'

export const enterJobAlone = procedure(
  import.meta.url,
  'enterJobAlone',
  function* (db, { job, instance }: { job: Parameters<typeof enterJob>[1]; instance: string }) {
    yield* enterJob(db, job, instance)
  },
)

export interface Queue {
  store: Store
  blobs: BlobStore
  /** Lines of the workers' log. */
  lines: string[]
  instance(): Promise<Instance>
  /** Enters a job whose conversion does what program.ts says of this name. */
  add(fileName: string, account?: string): Promise<string>
  job(id: string): Promise<JobRow>
  /** How many jobs the workers have ended. */
  ended: EndedJobs
  /** Starts a worker, on the blobs as `change` makes them; it ends with the test. */
  worker(change?: (blobs: BlobStore) => BlobStore): Promise<AsyncDisposable>
}

const accountOf = (id: string) => ({
  id,
  name: id,
  email: null,
  plan: 'free',
  role: 'member' as const,
  created_at: 0,
  disabled: 0,
})

export async function openQueue(t: TestContext): Promise<Queue> {
  const data = temporaryFolder(t)
  const store = await openStore({ data, databaseUrl: null, now: Date.now() })
  const ending = new AsyncDisposableStack()
  ending.use(store)
  t.after(() => ending.disposeAsync())
  const blobs = folderBlobs(join(data, 'blobs'))
  const lines: string[] = []
  const log = openLog('info', { write: (line) => void lines.push(line) })
  const notifications = createJobNotifications(store)
  const instance = async (): Promise<Instance> =>
    ending.use(await enterInstance(store, Date.now, () => {}))
  const own = await instance()
  const ended: EndedJobs = { succeeded: 0, failed: 0 }
  return {
    store,
    blobs,
    lines,
    ended,
    instance,
    add: async (fileName, account = 'acc') => {
      await store.db
        .insertInto('accounts')
        .values(accountOf(account))
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute()
      const path = join(data, newId('file', Date.now()))
      writeFileSync(path, 'an archive')
      const now = Date.now()
      const upload_blob = await keepBlob(store, blobs, path, own.id, now)
      const job = newJob(
        {
          id: newId('job', now),
          account_id: account,
          format: 'markdown',
          include_metadata: 0,
          source_map: 0,
          certify: 0,
          file_name: fileName,
          file_size: 10,
          upload_blob,
        },
        now,
      )
      await store.run(enterJobAlone, { job, instance: own.id })
      notifications.notify()
      return job.id
    },
    job: (id) =>
      store.db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirstOrThrow(),
    worker: async (change = (same) => same) => {
      const mine = await instance()
      const scratch = await openScratch(join(data, 'scratch'), mine.id, async () =>
        (await store.db.selectFrom('instances').select('id').execute()).map(({ id }) => id),
      )
      const limits = { atOnce: 1, deadline: 30_000, heap: 64 * 1_048_576 }
      const converters = ending.use(
        openConverterPool(limits, new URL('program.ts', import.meta.url)),
      )
      return ending.use(
        startWorker({
          store,
          blobs: change(blobs),
          scratch,
          workspaces: ending.use(new KeptWorkspaces()),
          converterPool: converters,
          notifications,
          queue: createConversionQueue({ atOnce: 1, queue: 1 }),
          instance: mine,
          clock: Date.now,
          log,
          retentionMs: 60_000,
          ended,
        }),
      )
    },
  }
}
