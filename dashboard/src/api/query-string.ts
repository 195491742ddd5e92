// Query parameters of a call.

/** Query parameters; empty and missing values are left out of the URL. */
export type Query = Readonly<Record<string, string | number | null | undefined>>

/** A path with its query parameters, without empty ones. */
export function withQuery(path: string, query: Query = {}): string {
  const pairs = Object.entries(query).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  )
  const text = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? path : `${path}?${text}`
}
