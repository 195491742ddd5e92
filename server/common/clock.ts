// The two clocks, which are passed to everything that needs them (tests pass their own), lengths of
// time, and the format of timestamps.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'

/** A minute in milliseconds. */
export const MINUTE = 60_000
/** An hour in milliseconds. */
export const HOUR = 60 * MINUTE
/** A day in milliseconds. */
export const DAY = 24 * HOUR

/** The two clocks of a process. */
export type Clock = {
  /**
   * Milliseconds since 1970. May step either way at any time: use it only for times that people
   * read.
   */
  now(): number
  /** Monotonic milliseconds, on one scale for all processes since the machine booted. */
  mono(): number
  /**
   * Identifies the boot that `mono` counts from: only values of `mono` from the same boot can be
   * compared.
   */
  boot: number
}

/** The machine's clocks. @param now milliseconds since 1970 */
export function systemClock(now: () => number): Clock {
  // process.hrtime counts from boot (CLOCK_MONOTONIC on Linux); performance.now is cheaper, and
  // reads the same clock from the start of the process.
  const offset = Number(process.hrtime.bigint()) / 1e6 - performance.now()
  return { now, mono: () => performance.now() + offset, boot: crc32(bootId()) }
}

/** A time as the API writes it: ISO 8601 in UTC. @param at milliseconds since 1970 */
export function isoTime(at: number): string
/** The same; null stays null. */
export function isoTime(at: number | null): string | null
export function isoTime(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}

/** The kernel's id of this boot; if there is none, every process counts as a boot of its own. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return OWN_BOOT_ID
  }
}

const OWN_BOOT_ID = randomUUID()
