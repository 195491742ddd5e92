/** Created when it is first needed: the first use of `Intl` takes 10 to 30 ms. */
let whole: Intl.NumberFormat | undefined

/** A number as a person reads it: "12,345". */
export function grouped(count: number): string {
  whole ??= new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
  return whole.format(count)
}

/** A number and what it counts, for a sentence: "1 request", "2,000 requests". */
export function counted(count: number, thing: string): string {
  return `${grouped(count)} ${thing}${count === 1 ? '' : 's'}`
}
