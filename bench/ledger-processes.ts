// Whether processes that share keys on PostgreSQL admit as much together as one alone: 20 keys,
// admissions and settlements, in turns. `--processes 1,4`, `--rows N` and `--callers N` of each
// process, `--rounds N`; `--delay N` milliseconds between processes and database, there and back.
// On a PostgreSQL of its own on this machine, with fsync.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { admissionRequest, openOn, settlement } from '../test/ledger/support/opened.ts'
import { NODE_FLAGS } from '../test/support/node.ts'
import { query, startPostgres, type Server } from '../test/support/postgres.ts'

const KEYS = 20
/**
 * Admissions of each process before the measurement. After 2,000, code that has yet to be compiled
 * and PostgreSQL's caches cost half as much again.
 */
const WARM_UP = 20_000

const { values } = parseArgs({
  options: {
    processes: { type: 'string', default: '1,4' },
    rows: { type: 'string', default: '20000' },
    callers: { type: 'string', default: '256' },
    rounds: { type: 'string', default: '3' },
    delay: { type: 'string', default: '0' },
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
  const many = async (left: number): Promise<void> => {
    await Promise.all(
      Array.from({ length: Number(values.callers) }, async (_, i) => {
        while (left-- > 0) await one(i)
      }),
    )
  }
  await many(WARM_UP)
  process.stdout.write('ready\n')
  await once(process.stdin, 'data')
  const used = process.cpuUsage()
  await many(Number(values.rows))
  const { user, system } = process.cpuUsage(used)
  process.stdout.write(`${user + system}\n`)
  await once(process.stdin, 'data')
  await close()
  rmSync(folder, { recursive: true, force: true })
  process.exit()
}

/** The processor time (µs) of a server's processes: stat(5), fields 4 and 14 to 17. */
function processorTime({ data }: Server): number {
  const [server] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
  const ticks = globSync('/proc/[0-9]*/stat').map((file) => {
    try {
      const stat = readFileSync(file, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return fields[1] === server ? Number(fields[11]) + Number(fields[12]) : 0
    } catch {
      return 0 // It has ended.
    }
  })
  return ticks.reduce((sum, one) => sum + one, 0) * 10_000
}

async function compare(): Promise<void> {
  await using server = await startPostgres({ track_functions: 'pl' })
  await using away = await distant(Number(server.url.port), Number(values.delay) / 2)
  const rates = new Map<number, number[]>()
  for (let round = 0; round < Number(values.rounds); round++)
    for (const count of values.processes.split(',').map(Number)) {
      const rate = await measure(server, away.port, count)
      rates.set(count, [...(rates.get(count) ?? []), rate])
    }
  for (const [count, found] of rates)
    console.log(
      `${count} processes: ${found.map((rate) => rate.toFixed(0)).join(', ')} rows a second`,
    )
}

/** A port that passes bytes to another one, and back, with a delay each way (milliseconds). */
async function distant(port: number, delay: number): Promise<{ port: number } & AsyncDisposable> {
  const later = (act: () => void): unknown => (delay > 0 ? setTimeout(act, delay) : act())
  const forward = (from: Socket, to: Socket): void => {
    from.on('data', (bytes) => later(() => to.write(bytes)))
    from.on('close', () => later(() => to.destroy()))
    from.on('error', () => {})
  }
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    for (const socket of [near, far]) socket.setNoDelay()
    forward(near, far)
    forward(far, near)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => void server.close(),
  }
}

/** How often a function of ours has been called in a database. */
async function callsOf(url: string, name: string): Promise<number> {
  const calls = await query(
    new URL(url),
    `select calls from pg_stat_user_functions where funcname = '${name}' order by calls desc limit 1`,
  )
  return Number((calls as { calls: string }[])[0]?.calls ?? 0)
}

/**
 * Rows a second of all processes together. @param port of the database, as seen by the processes
 */
async function measure(server: Server, port: number, count: number): Promise<number> {
  const name = `bench_${count}_${Date.now()}`
  await query(server.url, `create database ${name} encoding 'UTF8' template template0`)
  const url = new URL(`/${name}`, server.url).href
  const away = new URL(url)
  if (values.delay !== '0') away.port = String(port)
  const args = ['--rows', values.rows, '--callers', values.callers]
  const children = await Promise.all(
    Array.from({ length: count }, async () => {
      const child = spawn(
        process.execPath,
        [...NODE_FLAGS, import.meta.filename, '--database', away.href, ...args],
        { stdio: ['pipe', 'pipe', 'inherit'] },
      )
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
      await lines.next()
      return { child, lines }
    }),
  )
  const exits = children.map(({ child }) => once(child, 'exit'))
  const before = processorTime(server)
  const began = performance.now()
  for (const { child } of children) child.stdin.write('go\n')
  const used = await Promise.all(
    children.map(async ({ lines }) => Number((await lines.next()).value)),
  )
  const seconds = (performance.now() - began) / 1000
  const rows = count * Number(values.rows)
  const here = used.reduce((sum, one) => sum + one, 0) / rows
  const database = (processorTime(server) - before) / rows
  for (const { child } of children) child.stdin.write('end\n')
  await Promise.all(exits)
  const [calls, again] = [
    await callsOf(url, 'tollmark_admit'),
    await callsOf(url, 'tollmark_restamp'),
  ]
  console.log(
    `${count} processes: ${(rows / seconds).toFixed(0)} rows a second; ${here.toFixed(0)} µs of their processors each, ${database.toFixed(0)} µs of PostgreSQL's; ${again} of ${calls} calls followed by one that moves stamps`,
  )
  return rows / seconds
}
