const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })

/** A number as a person reads it: "12,345". */
export const grouped = (count: number): string => whole.format(count)

/** A number and what it counts, for a sentence: "1 request", "2,000 requests". */
export function counted(count: number, thing: string): string {
  return `${grouped(count)} ${thing}${count === 1 ? '' : 's'}`
}
