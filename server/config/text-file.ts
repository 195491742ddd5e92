import { readFileSync } from 'node:fs'

/**
 * The text of a file that a person has written, without the byte order mark that some editors put
 * first: it would be part of the first name in `.env`, and is no JSON.
 *
 * @throws the system's error if it cannot be read
 */
export const readText = (path: string): string => readFileSync(path, 'utf8').replace(/^\uFEFF/, '')
