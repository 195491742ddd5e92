// Finds the databases that other pages show.
import type { PageSummary } from '../converted-page.ts'

/** Leaves out the databases whose tables other pages show: links to them lead there. */
export function omitEmbedded<T extends { readonly summary: PageSummary }>(
  pages: readonly T[],
): T[] {
  const embeddedIn = new Map(
    pages.flatMap(({ summary }) => summary.databases.map((id) => [id, summary])),
  )
  return pages.filter(({ summary: { isDatabase, id, path } }) => {
    const host = isDatabase === true && id !== null ? embeddedIn.get(id) : undefined
    host?.aliases.push(path)
    return host === undefined
  })
}
