// How long each page of the dashboard waits for its data when the ledger has 1,000,000 rows, over
// HTTP. The rows are written directly to the store's file: 30 days, 3 accounts, 60 keys (or the
// third argument), 8 models; the roll-ups are summed from them.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToken } from '../server/accounts/tokens.ts'
import { readConfig } from '../server/config/settings.ts'
import { addHours } from '../server/ledger/rollups/coarser.ts'
import { openLog } from '../server/common/log.ts'
import { serve } from '../server/app/serve.ts'
import { dashboardPaths } from './parts/dashboard-pages.ts'
import { fillLedger } from './parts/rows.ts'

const ROWS = Number(process.argv[2] ?? 1_000_000)
const ROUNDS = Number(process.argv[3] ?? 15)
const KEYS = Number(process.argv[4] ?? 60)
const BAR_MS = 100
const ACCOUNTS = 3

const folder = mkdtempSync(join(tmpdir(), 'tollmark-bench-'))
try {
  const server = await serve(
    readConfig({ PORT: '0', TOLLMARK_DATA: folder, LOG_LEVEL: 'silent' }),
    openLog('silent'),
  )
  const now = Date.now()
  const tokens = []
  for (let i = 0; i < ACCOUNTS; i++) {
    tokens.push(
      (
        await createToken(
          server.store,
          { name: i === 0 ? null : `account ${i}`, plan: 'free' },
          { name: 'bench', scopes: ['manage'], expiresAt: null },
          now,
        )
      ).token,
    )
  }
  const filled = performance.now()
  fillLedger(
    join(folder, 'tollmark.db'),
    tokens.map(({ account_id }) => account_id),
    ROWS,
    now,
    KEYS,
  )
  const adding = performance.now()
  await addHours(server.store, now)
  console.log(
    `${ROWS} rows written in ${seconds(filled, adding)} s, added to their days in ${seconds(adding, performance.now())} s`,
  )

  const asked = dashboardPaths('key_000000', now)
  let slow = 0
  console.log('median ms   worst ms   CPU ms   KB   what is asked')
  for (const path of asked) {
    const times: number[] = []
    let [size, used] = [0, process.cpuUsage()]
    for (let round = 0; round <= ROUNDS; round++) {
      const started = performance.now()
      const response = await fetch(`${server.url}/api/v1/${path}`, {
        headers: { authorization: `Bearer ${tokens[0]!.secret}` },
      })
      size = (await response.arrayBuffer()).byteLength
      if (!response.ok) throw new Error(`${path}: ${response.status}`)
      // The first request warms the server.
      if (round > 0) times.push(performance.now() - started)
      else used = process.cpuUsage()
    }
    const { user, system } = process.cpuUsage(used)
    const cpu = (user + system) / 1000 / ROUNDS
    times.sort((a, b) => a - b)
    const median = times[Math.floor(times.length / 2)]!
    if (median > BAR_MS) slow++
    console.log(
      `${median.toFixed(1).padStart(9)} ${times.at(-1)!.toFixed(1).padStart(10)} ${cpu.toFixed(1).padStart(8)} ${(size / 1024).toFixed(0).padStart(4)}   ${path}${median > BAR_MS ? '   TOO SLOW' : ''}`,
    )
  }
  console.log(
    slow === 0
      ? `every response within ${BAR_MS} ms`
      : `${slow} responses take longer than ${BAR_MS} ms`,
  )
  process.exitCode = slow === 0 ? 0 : 1
  await server[Symbol.asyncDispose]()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function seconds(from: number, to: number): string {
  return ((to - from) / 1000).toFixed(1)
}
