// The command line without a process of its own, where nothing is printed: a process takes half a
// second.
import { EXIT, Misuse, toFailure } from '../../server/cli/failure.ts'
import { runCommand } from '../../server/cli/run.ts'

/**
 * What a command line is refused with, and the exit code that this is. @throws Error where it is
 * done
 */
export async function refusalOf(args: string[]): Promise<{ detail: string; exit: number }> {
  const error = await runCommand(args).then(
    () => new Error(`${args.join(' ')} was done`),
    (thrown: unknown) => thrown,
  )
  const failure = toFailure(error)
  if (failure === undefined) throw error
  return { detail: failure.detail, exit: error instanceof Misuse ? EXIT.misuse : EXIT.failed }
}
