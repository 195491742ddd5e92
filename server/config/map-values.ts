// Maps the values of records.

/** A record with the same keys and mapped values. */
export function mapValues<V, W>(
  table: Readonly<Record<string, V>>,
  change: (value: V, key: string) => W,
): Record<string, W> {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key, change(value, key)]))
}
