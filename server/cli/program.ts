// Builds commander's parser from the table of commands.
import { Command as Parser, Option as ParserOption } from 'commander'
import manifest from '../package.json' with { type: 'json' }
import type { Command } from './command.ts'
import { COMMANDS, GROUPS } from './commands/table.ts'
import { OptionValues } from './values.ts'

/** Builds the parser. It throws CommanderError for help, for the version, and for errors. */
export function createProgram(): Parser {
  const program = createParser(
    'tollmark',
    'A self-hosted server that converts Notion exports to Markdown and proxies requests to AI providers.',
  )
  program
    .version(`tollmark ${manifest.version}`, '-V, --version', 'print the version')
    .addHelpText('after', '\ntollmark COMMAND --help explains a command, with examples.')
  const groups = new Map<string, Parser>()
  for (const command of COMMANDS) {
    const [group = '', word] = command.name.split(' ')
    if (word === undefined) program.addCommand(commandParser(group, command))
    else {
      let parser = groups.get(group)
      if (parser === undefined) {
        parser = createParser(group, GROUPS[group] ?? '')
        parser.addHelpText('after', '\nWithout a command, lists all.')
        groups.set(group, parser)
        program.addCommand(parser)
      }
      parser.addCommand(commandParser(word, command))
    }
  }
  return program
}

function createParser(name: string, description: string): Parser {
  const parser = new Parser(name).description(description)
  return parser
    .helpCommand('help [command]', 'explain a command')
    .helpOption('-h, --help', 'show this help')
    .exitOverride()
    .showSuggestionAfterError()
    .configureOutput({ outputError: () => {}, writeErr: () => {} })
}

function commandParser(
  word: string,
  { summary, args, options, notes, examples, run }: Command,
): Parser {
  const parser = createParser(word, sentence(summary)).helpCommand(false)
  parser.summary(summary)
  if (args !== undefined) parser.arguments(args)
  for (const { flags, summary, choices } of options) {
    const option = new ParserOption(flags, summary)
    parser.addOption(choices === undefined ? option : option.choices([...choices]))
  }
  if (notes !== undefined) parser.addHelpText('after', `\n${notes}`)
  parser.addHelpText(
    'after',
    `\nExamples:\n${examples.map((example) => `  ${example}`).join('\n')}`,
  )
  return parser.action(() => run(new OptionValues(parser.opts()), parser.args))
}

/** Turns a phrase into a sentence. */
function sentence(phrase: string): string {
  return `${phrase[0]?.toUpperCase()}${phrase.slice(1)}.`
}
