// Counts the admissions of a key in a minute, as they are read back from the ledger.
import { WINDOW_MS } from '../admission/sliding-window.ts'

const WINDOW_US = WINDOW_MS * 1000

/** Windows that are kept; beyond that, those without a recent request are dropped. */
const MAX_WINDOWS = 100_000

/** The windows of keys, or of child keys with their own limits. */
export class CheckedWindows {
  readonly #windows = new Map<string, CheckedWindow>()
  #most = MAX_WINDOWS

  /** The same as `CheckedWindow.add`. @param id of the key */
  add(id: string, mono: number, boot: number, matters: boolean): number {
    let window = this.#windows.get(id)
    if (window === undefined) {
      if (this.#windows.size >= this.#most) {
        for (const [each, one] of this.#windows)
          if (one.isOver(mono, boot)) this.#windows.delete(each)
        this.#most = Math.max(MAX_WINDOWS, 2 * this.#windows.size)
      }
      this.#windows.set(id, (window = new CheckedWindow()))
    }
    return window.add(mono, boot, matters)
  }
}

/**
 * Finds the first row that can share a one-minute window with a later one, by the clock of a boot.
 */
export class RecentRows {
  #boot = 0
  /** The first row of each of the last minutes, oldest first. */
  #minutes: { minute: number; seq: number }[] = []

  add(seq: number, mono: number, boot: number): void {
    if (boot !== this.#boot) {
      this.#boot = boot
      this.#minutes = []
    }
    const minute = Math.floor(mono / WINDOW_US)
    if (minute <= (this.#minutes.at(-1)?.minute ?? -1)) return
    this.#minutes.push({ minute, seq })
    // The current window, and two earlier ones that are kept for late rows.
    while ((this.#minutes[0]?.minute ?? minute) < minute - 2) this.#minutes.shift()
  }

  /** `seq` of that row; 0: none. */
  first(): number {
    return this.#minutes[0]?.seq ?? 0
  }
}

/** How many stamps a window has before old ones are dropped for the first time. */
const MIN_TRIMMED = 1024

/** The last minutes of one key or child. Times in microseconds. */
class CheckedWindow {
  #boot = 0
  /**
   * The last minutes' admissions by that boot's clock, oldest first. Several processes write
   * nearly, but not exactly, in order.
   */
  #stamps: number[] = []
  /** No stamp before this index shares a minute with the newest one. */
  #first = 0
  #trimAt = MIN_TRIMMED

  /**
   * Adds an admission. @returns the most in any one-minute window that contains it, if that
   * `matters`; else 0
   */
  add(mono: number, boot: number, matters: boolean): number {
    if (boot !== this.#boot) {
      this.#boot = boot
      this.#stamps = []
      this.#first = 0
    }
    if (this.#stamps.length >= this.#trimAt) this.#trim(mono)
    const stamps = this.#stamps
    if (mono >= (stamps.at(-1) ?? 0)) {
      stamps.push(mono)
      while (mono - (stamps[this.#first] ?? 0) >= WINDOW_US) this.#first++
      return matters ? stamps.length - this.#first : 0
    }
    let at = stamps.length
    while (at > 0 && (stamps[at - 1] ?? 0) > mono) at--
    stamps.splice(at, 0, mono)
    this.#first = 0
    return matters ? this.#mostAround(mono, at) : 0
  }

  /** Whether no later row can share a minute with its rows. */
  isOver(mono: number, boot: number): boolean {
    return boot !== this.#boot || (this.#stamps.at(-1) ?? 0) < mono - 2 * WINDOW_US
  }

  /** Two windows are kept, because a row may be slightly late. */
  #trim(mono: number): void {
    this.#stamps = this.#stamps.filter((stamp) => stamp > mono - 2 * WINDOW_US)
    this.#first = 0
    this.#trimAt = Math.max(MIN_TRIMMED, 2 * this.#stamps.length)
  }

  /** A row that is slightly late is also in the windows of later rows. */
  #mostAround(mono: number, at: number): number {
    const stamps = this.#stamps
    let most = 0
    let first = at
    while (first > 0 && mono - (stamps[first - 1] ?? 0) < WINDOW_US) first--
    for (let last = at; last < stamps.length && (stamps[last] ?? 0) - mono < WINDOW_US; last++) {
      while ((stamps[last] ?? 0) - (stamps[first] ?? 0) >= WINDOW_US) first++
      most = Math.max(most, last - first + 1)
    }
    return most
  }
}
