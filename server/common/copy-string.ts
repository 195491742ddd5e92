/**
 * A text of a head, to be kept: a copy, because V8 keeps the whole head for as long as a part of
 * it.
 *
 * @param text latin1, as all that stands in a head
 */
export function copyString(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}
