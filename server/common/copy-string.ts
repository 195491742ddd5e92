/**
 * Copies a part of a head that is to be kept, because V8 keeps the whole head for as long as any
 * substring of it.
 *
 * @param text latin1, like everything in a head
 */
export function copyString(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}
