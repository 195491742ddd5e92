// Runs a target of the fuzzer, one seed after another.
import { Chance } from './chance.ts'
import type { Target } from './target.ts'

/** How often a case may take longer than this (milliseconds) is never: it hangs. */
const CASE_MS = 20_000

/**
 * Runs cases until the time is over, and at least `least` of them.
 *
 * @param first the first seed; each case has the next one
 * @returns how many there were
 * @throws Error that names the seed of the case that went wrong
 */
export async function fuzz(
  name: string,
  open: () => Promise<Target>,
  first: number,
  milliseconds: number,
  least = 1,
): Promise<number> {
  await using target = await open()
  const until = performance.now() + milliseconds
  let seed = first
  do {
    let timer: NodeJS.Timeout | undefined
    try {
      const result = target.run(new Chance(seed))
      if (result instanceof Promise) {
        const hangs = new Promise<never>(
          (_, reject) => (timer = setTimeout(reject, CASE_MS, new Error('the case does not end'))),
        )
        await Promise.race([result, hangs])
      }
    } catch (error) {
      throw new Error(
        `${name} fails at seed ${seed}: npm run bench -- fuzz --target ${name} --seed ${seed} --minutes 0`,
        { cause: error },
      )
    } finally {
      clearTimeout(timer)
    }
    seed++
  } while (seed - first < least || performance.now() < until)
  return seed - first
}
