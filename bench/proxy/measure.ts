// How the CPU of a proxy under load is measured.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { NODE_FLAGS } from '../../test/support/node.ts'
import type { Contender } from './contenders.ts'
import type { Found } from './load.ts'

/** `large`: requests of coding agents. */
export type Mode = 'requests' | 'large' | 'events'

/** TABLE of modes: connections, warm-up requests, and name. */
export const MODES: Readonly<
  Record<Mode, { connections: number; warm: [seconds: number, requests: number]; name: string }>
> = {
  requests: {
    connections: 32,
    warm: [15, 30_000],
    name: 'a request (1 KB up, 1.5 KB down, 32 connections)',
  },
  large: {
    connections: 16,
    warm: [30, 8_000],
    name: 'a request of a coding agent (200 to 400 KB up, a stream of 20 events down for half of them, 16 connections)',
  },
  events: {
    connections: 200,
    warm: [4, 30_000],
    name: 'an event (200 streams, 50 events a second each)',
  },
}
/** Seconds of load before each measurement, because a server that was idle has cold caches. */
export const RUN_IN_SECONDS = 1

/** User and system time of a process with all its threads, in microseconds. */
export function cpu(pid: number): number {
  // Fields 14 and 15 of proc(5), counted from after the command's name, which may contain spaces;
  // in hundredths of a second.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

/** Starts callers of a contender; `found` has their results. @throws Error if they failed */
export function load(
  mode: string,
  { name, port, path, headers }: Contender,
  connections: number,
  time: number,
  most = Infinity,
): { child: ChildProcess; found: Promise<Found> } {
  const child = spawn(
    process.execPath,
    [
      ...NODE_FLAGS,
      join(import.meta.dirname, 'load.ts'),
      mode,
      String(port),
      String(connections),
      String(time),
      String(most),
      path,
      ...headers,
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let text = ''
  child.stdout.on('data', (bytes: Buffer) => (text += bytes.toString()))
  const found = once(child, 'exit').then(([code]) => {
    if (code !== 0) throw new Error(`the load of ${name} ended with an error`)
    return JSON.parse(text) as Found
  })
  return { child, found }
}

export const median = (numbers: number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!
