// A binary max-heap of items that know their index in it, so that an item whose value has changed
// is moved in O(log n).

/** Something that a heap orders by `used`. It can be in one heap at a time. */
export interface Ranked {
  used: number
  /** Its index in the heap's array; -1: in no heap. Only the heap writes it. */
  index: number
}

/** A heap of items by usage, the largest on top; each item knows its index. */
export class MaxHeap<T extends Ranked> {
  readonly #items: T[] = []

  /** An item with the highest usage; null if the heap is empty. */
  get top(): T | null {
    return this.#items[0] ?? null
  }

  add(item: T): void {
    if (item.index >= 0) return
    item.index = this.#items.push(item) - 1
    this.#rise(item)
  }

  remove(item: T): void {
    const { index } = item
    if (index < 0) return
    item.index = -1
    const last = this.#items.pop()
    if (last === undefined || last === item) return
    this.#put(last, index)
    this.moved(last)
  }

  /** Call it when `used` of an item has changed; items of no heap are ignored. */
  moved(item: T): void {
    if (item.index < 0) return
    this.#rise(item)
    this.#sink(item)
  }

  #rise(item: T): void {
    let { index } = item
    while (index > 0) {
      // oxlint-disable-next-line typescript/no-non-null-assertion -- a parent stands before its children
      const parent = this.#items[(index - 1) >> 1]!
      if (parent.used >= item.used) break
      this.#put(parent, index)
      index = (index - 1) >> 1
    }
    this.#put(item, index)
  }

  #sink(item: T): void {
    let { index } = item
    for (;;) {
      const left = this.#items[2 * index + 1]
      if (left === undefined) break
      const right = this.#items[2 * index + 2]
      const child = right !== undefined && right.used > left.used ? right : left
      if (child.used <= item.used) break
      const next = child.index
      this.#put(child, index)
      index = next
    }
    this.#put(item, index)
  }

  #put(item: T, index: number): void {
    this.#items[index] = item
    item.index = index
  }
}
