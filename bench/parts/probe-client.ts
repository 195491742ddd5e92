// Asks the probe of a server (bench/gaps/probe.ts) what it has found.
import { connect } from 'node:net'
import { join } from 'node:path'
import type { Probed } from '../gaps/probe.ts'

/** Node's flags that preload the probe; it listens at the path that BENCH_PROBE names. */
export const PROBE_FLAGS: readonly string[] = [
  '--import',
  join(import.meta.dirname, '../gaps/probe.ts'),
]

/** The probe's results since the last query. */
export async function askProbe(path: string): Promise<Probed> {
  const socket = connect(path)
  let text = ''
  for await (const piece of socket.setEncoding('utf8')) text += piece as string
  return JSON.parse(text) as Probed
}
