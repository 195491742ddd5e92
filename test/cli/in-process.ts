// The command line without a process of its own, where nothing is printed: a process takes half a
// second.
import { EXIT, Misuse, shown } from '../../server/cli/failure.ts'
import { perform } from '../../server/cli/run.ts'

/**
 * What a command line is refused with, and the exit code that this is. @throws Error where it is
 * done
 */
export async function refusalOf(args: string[]): Promise<{ detail: string; exit: number }> {
  const error = await perform(args).then(
    () => new Error(`${args.join(' ')} was done`),
    (thrown: unknown) => thrown,
  )
  const failure = shown(error)
  if (failure === undefined) throw error
  return { detail: failure.detail, exit: error instanceof Misuse ? EXIT.misuse : EXIT.failed }
}
