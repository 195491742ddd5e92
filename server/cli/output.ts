// What is said on standard output: all of it, or the command fails.
import { writeSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { codeOf } from '../common/errors.ts'
import { OutputError, type Failure } from './failure.ts'
import type { Row } from './record.ts'

/** Writes all of it to standard output. @throws OutputLost */
export async function write(text: string | Uint8Array): Promise<void> {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(1, bytes, done)
    } catch (error) {
      // A pipe that does not block is full.
      if (codeOf(error) !== 'EAGAIN') throw new OutputError(codeOf(error) ?? 'unknown reason')
      await wait(5)
    }
  }
}

/**
 * Learns whether anything can be written, before something is made that is said only once. @throws
 * OutputLost
 */
export function assertWritable(): void {
  try {
    writeSync(1, '')
  } catch (error) {
    throw new OutputError(codeOf(error) ?? 'unknown reason', false)
  }
}

/** Writes lines for a person. @throws OutputLost */
export function writeLines(lines: readonly string[]): Promise<void> {
  return write(`${lines.map(stripControls).join('\n')}\n`)
}

/** Writes JSON. @throws OutputLost */
export function writeJson(value: unknown): Promise<void> {
  return write(`${JSON.stringify(value, null, 2)}\n`)
}

/** Says something on standard error, which may be nobody's. */
export function printError(sentence: string): void {
  for (const line of sentence.split('\n'))
    process.stderr.write(`tollmark: ${stripControls(line)}\n`)
}

/** Says what is worth knowing beside the output, on standard error. */
export function printNotes(lines: readonly string[]): void {
  for (const line of lines) process.stderr.write(`${stripControls(line)}\n`)
}

/** Says what failed, on standard error. */
export function printFailure(failure: Failure, json: boolean): void {
  if (json) process.stderr.write(`${JSON.stringify(failure)}\n`)
  else printError(failure.detail)
}

/**
 * A line as a terminal may have it: names are other people's, and a control character could do
 * anything.
 */
function stripControls(line: string): string {
  return line.replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '\ufffd')
}

/** A column of a list: its header, and what stands in a row. */
export type Column = readonly [header: string, cell: (row: Row) => string]

/** A list as lines, its header first. */
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
