// The stack of open elements of a page (HTML standard, section 13.2.4.2), without the repairs that
// no exporter's page needs.

/** An open element, and the effect of its end. */
interface OpenElement {
  readonly name: string
  readonly end: (() => void) | undefined
}

/** Maximum number of inline elements that one end tag ends. */
const MAX_NESTED = 64

/** Elements without an end: they are never open. */
export const VOID = new Set(
  'area base br col embed hr img input link meta param source track wbr'.split(' '),
)

/** Elements that end a word. All others are inline. */
export const LINES = new Set(
  'p div li ul ol menu h1 h2 h3 h4 h5 h6 hgroup blockquote pre tr td th table caption figure figcaption details summary dl dd dt option optgroup address article aside center dialog fieldset footer form header legend main nav section body time br hr'.split(
    ' ',
  ),
)

/** Inline elements. An end tag of one is ignored if a block has begun inside it. */
export const INLINE = new Set(
  'a abbr b big cite code del em font i ins kbd label mark q s samp small span strike strong sub sup time tt u var'.split(
    ' ',
  ),
)

const TABLE = new Set('table thead tbody tfoot tr td th'.split(' '))

/** The open elements of one page, the outermost first. */
export class OpenElements {
  readonly #open: OpenElement[] = []
  readonly #places = new Map<string, number[]>()
  readonly #onEnd: (name: string) => void

  /** @param onEnd called after the effect of each end */
  constructor(onEnd: (name: string) => void) {
    this.#onEnd = onEnd
  }

  /** @param end the effect of its end */
  push(name: string, end?: () => void): void {
    const places = this.#places.get(name)
    if (places) places.push(this.#open.length)
    else this.#places.set(name, [this.#open.length])
    this.#open.push({ name, end })
  }

  /** How many elements of this name are open. */
  count(name: string): number {
    return this.#places.get(name)?.length ?? 0
  }

  /** The name of the innermost one. */
  get innermost(): string | undefined {
    return this.#open.at(-1)?.name
  }

  /**
   * Ends the innermost element of this name, and what is open inside it. An end tag of an inline
   * element is ignored if a block has begun inside it, and any other outside its cell.
   */
  end(name: string): void {
    const place = this.#place(name)
    if (place < 0) return
    if (INLINE.has(name)) {
      if (this.#open.length - place > MAX_NESTED) return
      if (this.#open.slice(place + 1).some((above) => !INLINE.has(above.name))) return
    } else if (!TABLE.has(name) && place < Math.max(this.#place('td'), this.#place('th'))) return
    this.#endAbove(place)
  }

  /** Ends all elements, at the end of the page. */
  endAll(): void {
    this.#endAbove(0)
  }

  #endAbove(place: number): void {
    while (this.#open.length > place) {
      const open = this.#open.pop()
      if (open === undefined) return
      this.#places.get(open.name)?.pop()
      open.end?.()
      this.#onEnd(open.name)
    }
  }

  #place(name: string): number {
    return this.#places.get(name)?.at(-1) ?? -1
  }
}
