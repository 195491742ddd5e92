// Where a store is, and how another process is told.

/** Where a store is: everything that a process must know to open it. */
export interface Place {
  data: string
  databaseUrl: URL | null
}

/** A place as the settings of a server or a command. */
export function settingsOf({ data, databaseUrl }: Place): Record<string, string> {
  return { TOLLMARK_DATA: data, ...(databaseUrl ? { DATABASE_URL: databaseUrl.href } : {}) }
}

/** A place as the arguments of one of our test programs; see `placeFrom`. */
export function argumentsOf({ data, databaseUrl }: Place): string[] {
  return [data, databaseUrl?.href ?? '']
}

/** The place in a test program's first two arguments. */
export function placeFrom([data = '', url = '']: string[]): Place {
  return { data, databaseUrl: url === '' ? null : new URL(url) }
}
