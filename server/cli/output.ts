// Writes to standard output completely, or fails.
import { writeSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { codeOf } from '../common/errors.ts'
import { OutputError, type Failure } from './failure.ts'
import type { Row } from './record.ts'

/** Writes all of it to standard output. @throws OutputError */
export async function write(text: string | Uint8Array): Promise<void> {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(1, bytes, done)
    } catch (error) {
      // EAGAIN: a non-blocking pipe is full.
      if (codeOf(error) !== 'EAGAIN') throw new OutputError(codeOf(error) ?? 'unknown reason')
      await wait(5)
    }
  }
}

/**
 * Checks that standard output is writable, before creating something that is shown only once.
 * @throws OutputError
 */
export function assertWritable(): void {
  try {
    writeSync(1, '')
  } catch (error) {
    throw new OutputError(codeOf(error) ?? 'unknown reason', false)
  }
}

/** Writes lines for a person. @throws OutputError */
export function writeLines(lines: readonly string[]): Promise<void> {
  return write(`${lines.map(stripControls).join('\n')}\n`)
}

/** Writes JSON. @throws OutputError */
export function writeJson(value: unknown): Promise<void> {
  return write(`${JSON.stringify(value, null, 2)}\n`)
}

/** Writes a line to standard error; ignores that nobody may read it. */
export function printError(sentence: string): void {
  for (const line of sentence.split('\n'))
    process.stderr.write(`tollmark: ${stripControls(line)}\n`)
}

/** Writes further information to standard error. */
export function printNotes(lines: readonly string[]): void {
  for (const line of lines) process.stderr.write(`${stripControls(line)}\n`)
}

/** Writes a failure to standard error. */
export function printFailure(failure: Failure, json: boolean): void {
  if (json) process.stderr.write(`${JSON.stringify(failure)}\n`)
  else printError(failure.detail)
}

/** Removes control characters, because other people's names could contain terminal escapes. */
function stripControls(line: string): string {
  return line.replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '\ufffd')
}

/** A column of a list: its header and its cells. */
export type Column = readonly [header: string, cell: (row: Row) => string]

/** Formats a list as lines, header first. */
export function table(columns: readonly Column[], rows: readonly Row[]): string[] {
  const cells = rows.map((row) => columns.map(([, cell]) => stripControls(cell(row))))
  const lines = [columns.map(([header]) => header), ...cells]
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)))
  return lines.map((line) =>
    line
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
