// A command is a row of a table, which parsing, help, completion and docs are made from.
import type { OptionValues } from './values.ts'

/** An option of a command, in commander's notation: `-o, --output <path>`. */
export interface Option {
  readonly flags: string
  /** A phrase without a full stop. */
  readonly summary: string
  /** The allowed values. */
  readonly choices?: readonly string[]
}

/** The option of all commands whose result programs read. */
export const JSON_OPTION: Option = {
  flags: '--json',
  summary: 'print JSON, including errors',
}

/** One command. Its `run` throws an error that the user can act on. */
export interface Command {
  /** One word, or two: `serve`, `keys create`. */
  readonly name: string
  /** A phrase without a full stop. */
  readonly summary: string
  /** Its arguments in commander's notation: `<id>`, `[files...]`. */
  readonly args?: string
  readonly options: readonly Option[]
  /** Paragraphs for the help, below the options. */
  readonly notes?: string
  readonly examples: readonly string[]
  readonly run: (values: OptionValues, args: string[]) => Promise<void>
}
