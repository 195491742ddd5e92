// What a command is: a row of a table, from which parsing, help, completion and docs are made.
import type { OptionValues } from './values.ts'

/** An option of a command, as commander writes them: `-o, --output <path>`. */
export interface Option {
  readonly flags: string
  /** A phrase without a full stop. */
  readonly summary: string
  /** The only values that it takes. */
  readonly choices?: readonly string[]
}

/** The option of all commands whose outcome programs read. */
export const JSON_OPTION: Option = {
  flags: '--json',
  summary: 'print JSON, and errors as JSON too',
}

/** One command. Its `run` throws for everything that the person at the terminal can mend. */
export interface Command {
  /** One word, or two: `serve`, `keys create`. */
  readonly name: string
  /** A phrase without a full stop. */
  readonly summary: string
  /** What follows the words, as commander writes it: `<id>`, `[files...]`. */
  readonly args?: string
  readonly options: readonly Option[]
  /** Paragraphs for the help, below the options. */
  readonly notes?: string
  readonly examples: readonly string[]
  readonly run: (values: OptionValues, args: string[]) => Promise<void>
}
