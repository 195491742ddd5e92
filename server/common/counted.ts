/** A number and what it counts, for a sentence: "1 request", "2 requests". */
export function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`
}
