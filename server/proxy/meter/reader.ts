// What every reader of an answer gives: usage objects in their order. What the answer created it notes where it is told to.
import type { Finding } from './usage.ts'

export interface Reader {
  /** Takes the next bytes of the decoded answer. Copies what it keeps. */
  write(chunk: Buffer): void
  /** Ends the answer, whole or cut off. */
  end(): void
  /** Usage objects: the first, and the last ones. */
  findings(): readonly Finding[]
}

/** Largest event, frame or line that is looked at as a whole, in bytes; longer ones are scanned as they pass. */
export const LARGEST_EVENT = 262_144

/** The value at a path such as `response.id`. */
export function at(value: unknown, path: string): unknown {
  let here = value
  for (const step of path.split('.')) here = typeof here === 'object' && here !== null ? (here as Record<string, unknown>)[step] : undefined
  return here
}

/** JSON or undefined. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
