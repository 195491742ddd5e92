// The place of a store, and how to pass it to another process.

/** The place of a store: all that a process needs to open it. */
export interface Place {
  data: string
  databaseUrl: URL | null
}

/** A place as settings of a server or a command. */
export function settingsOf({ data, databaseUrl }: Place): Record<string, string> {
  return { TOLLMARK_DATA: data, ...(databaseUrl ? { DATABASE_URL: databaseUrl.href } : {}) }
}

/** A place as arguments of a test program; see `placeFrom`. */
export function argumentsOf({ data, databaseUrl }: Place): string[] {
  return [data, databaseUrl?.href ?? '']
}

/** The place from a test program's first two arguments. */
export function placeFrom([data = '', url = '']: string[]): Place {
  return { data, databaseUrl: url === '' ? null : new URL(url) }
}
