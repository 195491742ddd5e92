// Runs a command, and turns every failure into a clear line and an exit code.
import { CommanderError } from 'commander'
import { COMMANDS, GROUPS } from './commands/table.ts'
import { AlreadyReported, EXIT, Misuse, OutputError, toFailure } from './failure.ts'
import { Interrupted } from './interrupt.ts'
import { printFailure } from './output.ts'
import { createProgram } from './program.ts'

/** Options that explain a group. */
const HELP = new Set(['-h', '--help'])

/** Runs a command. @returns the exit code @throws any bug */
export async function run(args: string[]): Promise<number> {
  try {
    await runCommand(args)
    return EXIT.done
  } catch (error) {
    return reportError(error, args)
  }
}

/** Parses and runs a command line. @throws Misuse, and errors of the command */
export async function runCommand(args: string[]): Promise<void> {
  const program = createProgram()
  const words = withCommand(args)
  try {
    if (words.length === 0) program.outputHelp()
    else await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    const translated = error instanceof CommanderError ? parserError(error, words) : error
    if (translated !== null) throw translated
  }
}

/** A group on its own lists: `requests --json` is `requests list --json`. */
function withCommand(args: readonly string[]): string[] {
  const [group = '', next = '-'] = args
  const lists = Object.hasOwn(GROUPS, group) && next.startsWith('-') && !HELP.has(next)
  return lists ? [group, 'list', ...args.slice(1)] : [...args]
}

function reportError(error: unknown, args: readonly string[]): number {
  if (error instanceof AlreadyReported) return EXIT.failed
  if (error instanceof Interrupted) return error.exitCode
  // The reader closed the pipe (`| head`).
  if (error instanceof OutputError && error.closed) return EXIT.done
  const failure = toFailure(error)
  if (failure === undefined) throw error
  printFailure(failure, wantsJson(args))
  return error instanceof Misuse ? EXIT.misuse : EXIT.failed
}

/** The parser's error in our words; null if it printed help or the version. */
function parserError(
  { code, message, exitCode }: CommanderError,
  words: readonly string[],
): Misuse | null {
  if (exitCode === 0) return null
  const text = message
    .replace(/^error: /, '')
    .replace(/\s*\n\(Did you mean (.+)\?\)/, '. Did you mean $1?')
  const sentence = `${text[0]?.toUpperCase()}${text.slice(1)}`
  const ended = /[.?]$/.test(sentence) ? sentence : `${sentence}.`
  const command = COMMANDS.find(({ name }) => `${words.join(' ')} `.startsWith(`${name} `))
  return new Misuse(
    code === 'commander.missingArgument' && command?.args !== undefined
      ? `${ended} Write: tollmark ${command.name} ${command.args}.`
      : ended,
  )
}

/** Works for a command line that cannot be parsed, too. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return args.slice(0, end === -1 ? undefined : end).includes('--json')
}
