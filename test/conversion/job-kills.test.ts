import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { openStore } from '../../server/store/open.ts'
import { call, convert, getToken, spawnServer, startServer } from '../support/harness.ts'
import type { Process } from '../support/harness.ts'
import { ASYNC, finished, pagesOf, upload } from '../support/jobs.ts'
import type { Job } from '../support/jobs.ts'
import { seeded } from '../support/random.ts'
import { placeOf } from '../support/store-settings.ts'
import { usedFolder } from '../support/templates.ts'
import { scratchFiles, storedFiles, until } from '../support/until.ts'

/** Each of the two processes once. */
const KILLS = 2

test(`kill -9, ${KILLS} times: every accepted job is done and counted once, and no file is left over`, async (t) => {
  const data = usedFolder(t)
  const env = { ...ASYNC, TOLLMARK_DATA: data, TOLLMARK_FREE_CONVERSIONS: '1000' }
  const token = await getToken(env)
  const random = seeded(1)
  const archives = [pagesOf(3), pagesOf(30, 400), pagesOf(100, 400)].map((archive) =>
    upload(archive),
  )
  const reference = await startServer(t, { TOLLMARK_DATA: usedFolder(t) })
  const documents: Buffer[] = []
  for (const archive of archives)
    documents.push((await convert(reference.url, await reference.token(), archive)).bytes)

  // One does everything, one only works; either is killed at any moment, and started again.
  const processes: Process[] = [
    await spawnServer(t, env),
    await spawnServer(t, env, '--role', 'worker'),
  ]
  const over = new AbortController()
  const lost = new AbortController()
  const jobs = new Map<string, Set<string>>()
  const uploading = Promise.all(
    [0, 1].map(async (lane) => {
      for (let index = 0; !over.signal.aborted; index++) {
        // A caller whose server is killed does not know whether its job was accepted: it asks again
        // with its key.
        const key = `${lane}-${index}-${index % archives.length}`
        for (let accepted = false; !accepted && !lost.signal.aborted;) {
          const response = await convert(
            processes[0]!.url,
            token,
            archives[index % archives.length]!,
            { 'idempotency-key': key },
          ).catch(() => undefined)
          if (response) assert.equal(response.status, 202, response.text)
          else await new Promise((resolve) => setTimeout(resolve, 50))
          accepted = response !== undefined
          if (response) jobs.set(key, (jobs.get(key) ?? new Set()).add(response.json<Job>().id))
        }
        await new Promise((resolve) => setTimeout(resolve, 1000))
      }
    }),
  )
  try {
    for (let kill = 0; kill < KILLS; kill++) {
      await new Promise((resolve) => setTimeout(resolve, random() * 500))
      const victim = kill % 2
      processes[victim]!.kill('SIGKILL')
      await processes[victim]!.exited
      processes[victim] = await spawnServer(t, env, ...(victim === 0 ? [] : ['--role', 'worker']))
    }
  } catch (error) {
    // There is no server any more that could respond.
    lost.abort()
    throw error
  } finally {
    over.abort()
  }
  await uploading

  const { url } = processes[0]!
  for (const [key, ids] of jobs) {
    assert.equal(ids.size, 1, `one key has ${ids.size} jobs`)
    const [id] = ids as unknown as [string]
    const job = await finished(url, token, id)
    assert.equal(job.status, 'succeeded', JSON.stringify(job.error))
    const result = await call(url, `/api/v1/jobs/${id}/result`, { token })
    assert.ok(result.bytes.equals(documents[Number(key.split('-')[2])]!), 'a document differs')
  }
  for (const one of processes) one.kill('SIGKILL')
  for (const one of processes) await one.exited

  await startServer(t, { TOLLMARK_DATA: data })
  await using store = await openStore({ ...(await placeOf(data)), now: 0 })
  const { used } = await store.db
    .selectFrom('quota_days')
    .select((e) => e.fn.sum<number>('used').as('used'))
    .executeTakeFirstOrThrow()
  const rows = await store.db.selectFrom('jobs').select(['id', 'result_blob', 'claims']).execute()
  assert.deepEqual([used, rows.length], [jobs.size, jobs.size])
  await until(() =>
    isDeepStrictEqual(storedFiles(data).sort(), rows.map(({ result_blob }) => result_blob).sort()),
  )
  assert.deepEqual(scratchFiles(data), [])
  t.diagnostic(
    `${jobs.size} jobs, claimed ${rows.reduce((sum, { claims }) => sum + claims, 0)} times`,
  )
})
