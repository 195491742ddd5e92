// Answers of the API, whose fields are read one by one and checked when they are.

/** One object of an answer. */
export class Row {
  /** As it came, for `--json`. */
  readonly json: object

  /** @throws Error where it is no object */
  constructor(value: unknown) {
    if (typeof value !== 'object' || value === null)
      throw new Error("The server's response is not an object.")
    this.json = value
  }

  #field(name: string): unknown {
    return Object.entries(this.json).find(([key]) => key === name)?.[1]
  }

  /** A field as text; empty where there is none. */
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

  /** A list of texts, or null. */
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

  /** A moment to the minute, as it is written in UTC; a word where there is none. */
  minute(name: string, ifNull: string): string {
    return this.optional(name)?.slice(0, 16).replace('T', ' ') ?? ifNull
  }
}
