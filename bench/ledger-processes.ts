// Whether processes that share keys on PostgreSQL admit as much together as one alone: 20 keys,
// admissions and settlements, in turns. `--processes 1,4`, `--rows N` of all processes together,
// `--callers N` of each, `--rounds N`. On a PostgreSQL of its own on this machine, with fsync.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { admissionRequest, openOn, settlement } from '../test/ledger/support/opened.ts'
import { NODE_FLAGS } from '../test/support/node.ts'
import { query, startPostgres, type Server } from '../test/support/postgres.ts'

const KEYS = 20
/** Admissions of each process before the measurement. */
const WARM_UP = 2_000

const { values } = parseArgs({
  options: {
    processes: { type: 'string', default: '1,4' },
    rows: { type: 'string', default: '40000' },
    callers: { type: 'string', default: '256' },
    rounds: { type: 'string', default: '3' },
    /** Of a child: the address of its database. */
    database: { type: 'string' },
  },
})
if (values.database === undefined) await compare()
else await admit(new URL(values.database))

/** A child: begins when a line comes in, so that all begin together. */
async function admit(databaseUrl: URL): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tollmark-ledger-'))
  const { ledger, close } = await openOn({ data: folder, databaseUrl })
  const one = async (i: number): Promise<void> => {
    const asked = admissionRequest(`key_${i % KEYS}`, 1_000_000)
    const admission = await ledger.admit(asked)
    if (!admission.admitted) throw new Error('refused')
    ledger.settle(settlement(asked, admission))
  }
  await Promise.all(Array.from({ length: WARM_UP }, (_, i) => one(i)))
  process.stdout.write('ready\n')
  await once(process.stdin, 'data')
  const used = process.cpuUsage()
  let left = Number(values.rows)
  await Promise.all(
    Array.from({ length: Number(values.callers) }, async (_, i) => {
      while (left-- > 0) await one(i)
    }),
  )
  const { user, system } = process.cpuUsage(used)
  process.stdout.write(`${user + system}\n`)
  await close()
  rmSync(folder, { recursive: true, force: true })
  process.exit()
}

/** The processor time (µs) of the backends of a server that have ended: stat(5), fields 16 and 17. */
function endedBackends({ data }: Server): number {
  const [pid = ''] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) * 10_000
}

async function compare(): Promise<void> {
  await using server = await startPostgres({})
  const rates = new Map<number, number[]>()
  for (let round = 0; round < Number(values.rounds); round++)
    for (const count of values.processes.split(',').map(Number)) {
      const rate = await measure(server, count)
      rates.set(count, [...(rates.get(count) ?? []), rate])
    }
  for (const [count, found] of rates)
    console.log(
      `${count} processes: ${found.map((rate) => rate.toFixed(0)).join(', ')} rows a second`,
    )
}

/** Rows a second of all processes together. */
async function measure(server: Server, count: number): Promise<number> {
  const name = `bench_${count}_${Date.now()}`
  await query(server.url, `create database ${name} encoding 'UTF8' template template0`)
  const url = new URL(`/${name}`, server.url).href
  const share = (all: string): string => String(Math.ceil(Number(all) / count))
  const args = ['--rows', share(values.rows), '--callers', values.callers]
  const before = endedBackends(server)
  const children = await Promise.all(
    Array.from({ length: count }, async () => {
      const child = spawn(
        process.execPath,
        [...NODE_FLAGS, import.meta.filename, '--database', url, ...args],
        { stdio: ['pipe', 'pipe', 'inherit'] },
      )
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
      await lines.next()
      return { child, lines }
    }),
  )
  const exits = children.map(({ child }) => once(child, 'exit'))
  const began = performance.now()
  for (const { child } of children) child.stdin.write('go\n')
  const used = await Promise.all(
    children.map(async ({ lines }) => Number((await lines.next()).value)),
  )
  const seconds = (performance.now() - began) / 1000
  await Promise.all(exits)
  const rows = Number(values.rows)
  const here = used.reduce((sum, one) => sum + one, 0) / rows
  const database = (endedBackends(server) - before) / (rows + count * WARM_UP)
  console.log(
    `${count} processes: ${(rows / seconds).toFixed(0)} rows a second; ${here.toFixed(0)} µs of their processors each, ${database.toFixed(0)} µs of PostgreSQL's`,
  )
  return rows / seconds
}
