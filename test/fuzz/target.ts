// What a target of the fuzzer is.
import assert from 'node:assert/strict'
import type { Chance } from './chance.ts'

/** Makes one case, and throws where something is wrong with what becomes of it. */
export type Case = (chance: Chance) => void | Promise<void>

export interface Target extends AsyncDisposable {
  readonly run: Case
}

/** A target that needs nothing. */
export const plain = (run: Case) => (): Promise<Target> =>
  Promise.resolve({ run, [Symbol.asyncDispose]: () => Promise.resolve() })

/** The same result however the bytes are split. */
export function sameForAllSplits<T>(
  chance: Chance,
  bytes: Buffer,
  read: (pieces: readonly Buffer[]) => T,
): T {
  const whole = read([bytes])
  for (let i = 0; i < 3; i++)
    assert.deepEqual(read(chance.split(bytes)), whole, 'the split changes nothing')
  return whole
}
