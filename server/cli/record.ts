// Reads responses of the API field by field, and checks each field when it is read.

/** One object in a response. */
export class Row {
  /** As received, for `--json`. */
  readonly json: object

  /** @throws Error if it is not an object */
  constructor(value: unknown) {
    if (typeof value !== 'object' || value === null)
      throw new Error("The server's response is not an object.")
    this.json = value
  }

  #field(name: string): unknown {
    return Object.entries(this.json).find(([key]) => key === name)?.[1]
  }

  /** A field as text; empty if missing. */
  text(name: string): string {
    const value = this.#field(name)
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : ''
  }

  /** A field that may be null, as text. */
  optional(name: string): string | null {
    return this.#field(name) == null ? null : this.text(name)
  }

  flag(name: string): boolean {
    return this.#field(name) === true
  }

  /** A list of strings, or null. */
  texts(name: string): string[] | null {
    const value = this.#field(name)
    return Array.isArray(value) ? value.map(String) : null
  }

  /** A field that is an object. */
  row(name: string): Row {
    return new Row(this.#field(name) ?? {})
  }

  /** A field that is a list of objects. */
  rows(name: string): Row[] {
    const value = this.#field(name)
    return Array.isArray(value) ? value.map((one) => new Row(one)) : []
  }

  /** A timestamp to the minute in UTC, or `ifNull`. */
  minute(name: string, ifNull: string): string {
    return this.optional(name)?.slice(0, 16).replace('T', ' ') ?? ifNull
  }
}
