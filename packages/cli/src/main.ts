// The command line: finds the command and turns every failure into one clear line and exit code 1.
import { SetupError, codeOf } from '../../../server/errors.ts'
import { passingTrouble } from '../../../server/store/trouble.ts'

/** A command: reads its own arguments, and throws a SetupError for whatever the person at the terminal can mend. */
export interface Command {
  readonly usage: string
  readonly run: (args: string[]) => Promise<void>
}

/** TABLE of commands; each is loaded only when it is called. */
const COMMANDS: Readonly<Record<string, { summary: string; load: () => Promise<{ command: Command }> }>> = {
  serve: { summary: 'run the server', load: () => import('./serve.ts') },
  convert: { summary: 'convert Notion exports to Markdown on this machine', load: () => import('./convert.ts') },
  keys: { summary: 'make, list, change, rotate and revoke proxy keys', load: () => import('./keys.ts') },
  tokens: { summary: 'make, list and revoke API tokens', load: () => import('./tokens.ts') },
  verify: { summary: "prove from the ledger that no key's limit was ever exceeded", load: () => import('./verify.ts') },
}

const HELP = new Set(['--help', '-h', 'help'])

async function main([name = '--help', ...args]: string[]): Promise<void> {
  if (HELP.has(name)) return print(overview())
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (!entry) throw new SetupError(`There is no command "${name}". The commands are ${Object.keys(COMMANDS).join(', ')}.`)
  const { command } = await entry.load()
  if (args.some((arg) => arg === '--help' || arg === '-h')) return print(command.usage)
  await command.run(args)
}

function overview(): string {
  const lines = Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`)
  return ['usage: tollmark COMMAND [ARG …]', '', ...lines, '', 'tollmark COMMAND --help tells more.'].join('\n')
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** What parseArgs says about a wrong argument, without its hints on escaping. */
function wrongArgument(error: unknown): string | undefined {
  const wrong = error instanceof Error && codeOf(error)?.startsWith('ERR_PARSE_ARGS')
  return wrong ? `${error.message.split(/\.\s/)[0]}.` : undefined
}

// What a person is told is lost where standard error cannot be written; a server starts all the same.
process.stderr.on('error', () => {})
// Whoever reads our output may stop in the middle (`| head`).
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

try {
  await main(process.argv.slice(2))
} catch (error) {
  const sentence = error instanceof SetupError ? error.message : (wrongArgument(error) ?? passingTrouble(error)?.detail)
  if (sentence === undefined) throw error
  for (const line of sentence.split('\n')) process.stderr.write(`tollmark: ${line}\n`)
  process.exitCode = 1
}
