// Restores a server's continuous backup (TOLLMARK_BACKUP) at random moments during traffic: `npm
// run bench -- restore [--times 50] [--rate 200]`. Each time it copies the target, as if the
// machine were lost at that moment, restores it elsewhere, and compares it with the responses that
// callers got. Exits with 1 if a request that succeeded more than 5 s before is missing, the ledger
// has a gap, or `verify` finds a window over its limit.
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { readConfig } from '../server/config/settings.ts'
import { verifyWindows } from '../server/ledger/reports/verify.ts'
import { readIdentity } from '../server/store/backup/encryption.ts'
import { restoreBackup } from '../server/store/backup/restore.ts'
import { openStore } from '../server/store/open.ts'
import { makeSecrets } from './parts/secrets.ts'
import { startServer } from './parts/server.ts'

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '50' },
    rate: { type: 'string', default: '200' },
  },
})
const MAX_LOST_MS = 5_000
const MAX_PAUSE_MS = 3_000

const folder = mkdtempSync(join(tmpdir(), 'tollmark-restore-'))
const target = join(folder, 'target')
const { publicKey, privateKey } = generateKeyPairSync('x25519')
writeFileSync(join(folder, 'backup.pub'), publicKey.export({ type: 'spki', format: 'pem' }))
const identity = readIdentity(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())

const upstream = createServer((incoming, outgoing) => {
  incoming
    .resume()
    .on('end', () => outgoing.end('{"usage":{"prompt_tokens":1,"completion_tokens":1}}'))
})
await once(upstream.listen(0, '127.0.0.1'), 'listening')

/** When each request succeeded, by id (milliseconds since 1970). */
const succeeded = new Map<string, number>()
let refused = 0

async function call(port: number, key: string): Promise<void> {
  const response = await fetch(
    `http://127.0.0.1:${port}/proxy?url=${encodeURIComponent('https://api.openai.com/v1/chat/completions')}`,
    {
      method: 'POST',
      body: '{"model":"gpt-5","messages":[]}',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    },
  )
  await response.arrayBuffer()
  const id = response.headers.get('x-proxy-request-id')
  if (response.status === 200 && id !== null) succeeded.set(id, Date.now())
  else refused++
}

/** How far back from the copy successful requests are missing, in milliseconds. */
async function restoreOnce(
  number: number,
): Promise<{ lost: number; rows: number; wrong: string[] }> {
  const copy = join(folder, `copy-${number}`)
  const data = join(folder, `data-${number}`)
  const moment = Date.now()
  cpSync(target, copy, { recursive: true })
  const backups = readdirSync(copy).filter((name) => name.startsWith('tollmark-'))
  const source = join(copy, backups.sort().at(-1) ?? '')
  const { storage } = readConfig({ TOLLMARK_DATA: data })
  const signal = new AbortController().signal
  await restoreBackup({ storage, source, identity, env: {}, signal })
  await using store = await openStore({ data, databaseUrl: null, now: Date.now() })
  const { requests, violations } = await verifyWindows(store)
  const rows = await store.db.selectFrom('requests').select(['id', 'seq']).orderBy('seq').execute()
  const there = new Set(rows.map(({ id }) => id))
  const missing = [...succeeded].filter(([id, at]) => at < moment && !there.has(id))
  const lost = Math.max(0, ...missing.map(([, at]) => moment - at))
  const wrong = [
    ...(violations.length > 0 ? [`${violations.length} windows over their limit`] : []),
    ...(lost > MAX_LOST_MS ? [`${missing.length} requests lost, of up to ${lost} ms before`] : []),
    ...(rows.some(({ seq }, at) => seq !== at + 1) ? ['the ledger has a hole'] : []),
    ...(requests === rows.length ? [] : ['verify did not see every row']),
  ]
  rmSync(copy, { recursive: true })
  return { lost, rows: rows.length, wrong }
}

const { key } = await makeSecrets(join(folder, 'data'), 'free', { rpm: 1_000_000 })
const server = await startServer({
  TOLLMARK_DATA: join(folder, 'data'),
  TOLLMARK_BACKUP: target,
  TOLLMARK_BACKUP_RECIPIENT: join(folder, 'backup.pub'),
  OPENAI_API_KEY: 'sk-bench',
  TOLLMARK_UPSTREAM_OPENAI: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
})
const over = new AbortController()
const load = (async () => {
  const calls = new Set<Promise<void>>()
  for (; !over.signal.aborted; await wait(1000 / Number(values.rate))) {
    const one: Promise<void> = call(server.port, key)
      .catch(() => void refused++)
      .finally(() => calls.delete(one))
    calls.add(one)
  }
  await Promise.all(calls)
})()
const isBackedUp = (): boolean =>
  existsSync(target) && readdirSync(target).some((name) => name.startsWith('tollmark-'))
while (!isBackedUp()) await wait(20)

const lost: number[] = []
const complaints: string[] = []
let rows = 0
for (let number = 1; number <= Number(values.times); number++) {
  await wait(Math.random() * MAX_PAUSE_MS)
  const one = await restoreOnce(number)
  rmSync(join(folder, `data-${number}`), { recursive: true })
  lost.push(one.lost)
  rows = one.rows
  complaints.push(...one.wrong.map((what) => `restore ${number}: ${what}`))
}
over.abort()
await load
server.child.kill('SIGKILL')
upstream.close()
rmSync(folder, { recursive: true, force: true })
lost.sort((a, b) => a - b)
console.log(
  `${lost.length} restores, ${rows} rows in the last; lost before the moment: ${lost[Math.floor(lost.length / 2)]} ms median, ${lost.at(-1)} ms most; ${succeeded.size} requests succeeded, ${refused} not`,
)
for (const complaint of complaints) console.log(complaint)
console.log(complaints.length === 0 ? 'good: nothing else was lost' : 'WRONG')
process.exitCode = complaints.length === 0 ? 0 : 1
