// Runs a command, and turns every failure into a clear line and an exit code.
import { CommanderError } from 'commander'
import { COMMANDS } from './commands/table.ts'
import { AlreadySaid, EXIT, Misuse, OutputLost, shown } from './failure.ts'
import { Interrupted } from './interrupt.ts'
import { fail } from './output.ts'
import { createProgram } from './program.ts'

/** Runs a command. @returns the exit code @throws what is no fault of the person at the terminal */
export async function run(args: string[]): Promise<number> {
  try {
    await perform(args)
    return EXIT.done
  } catch (error) {
    return report(error, args)
  }
}

/** Parses a command line and does what it says. @throws Misuse and whatever the command throws */
export async function perform(args: string[]): Promise<void> {
  const program = createProgram()
  try {
    if (args.length === 0) program.outputHelp()
    else await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    const translated = error instanceof CommanderError ? fromParser(error, args) : error
    if (translated !== null) throw translated
  }
}

function report(error: unknown, args: readonly string[]): number {
  if (error instanceof AlreadySaid) return EXIT.failed
  if (error instanceof Interrupted) return error.exitCode
  // Whoever reads our output has seen enough (`| head`).
  if (error instanceof OutputLost && error.closed) return EXIT.done
  const failure = shown(error)
  if (failure === undefined) throw error
  fail(failure, wantsJson(args))
  return error instanceof Misuse ? EXIT.misuse : EXIT.failed
}

/** What the parser ended with, in our words; null where it has printed what was asked for. */
function fromParser(
  { code, message, exitCode }: CommanderError,
  [group]: readonly string[],
): Misuse | null {
  if (exitCode === 0) return null
  if (code === 'commander.help') {
    const words = COMMANDS.flatMap(({ name }) =>
      name.startsWith(`${group} `) ? [name.slice(name.indexOf(' ') + 1)] : [],
    )
    return new Misuse(`Say what to do with ${group}: ${words.join(', ')}.`)
  }
  const text = message
    .replace(/^error: /, '')
    .replace(/\s*\n\(Did you mean (.+)\?\)/, '. Did you mean $1?')
  const sentence = `${text[0]?.toUpperCase()}${text.slice(1)}`
  return new Misuse(/[.?]$/.test(sentence) ? sentence : `${sentence}.`)
}

/** Also of a command line that cannot be parsed. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return args.slice(0, end === -1 ? undefined : end).includes('--json')
}
