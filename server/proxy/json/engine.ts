// Manages instances of the scanner's WebAssembly module. A scan's state is in the memory of an
// instance while it runs there, and is copied out when another scan runs. There are as many
// instances as nested scans, which is usually one.
import { readFileSync } from 'node:fs'
import { MEMORY_PAGES, TABLES } from './layout.ts'
import { filterTable, type PathTable, type StringFilter } from './tables.ts'

/**
 * The used part of https://webassembly.github.io/spec/js-api/, which neither TypeScript's library
 * without the DOM nor Node's types declare.
 */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: object }
  readonly RuntimeError: new () => Error
}

/** Built from assembly/ by `npm run build:wasm`. */
const MODULE = new WebAssembly.Module(readFileSync(new URL('scanner.wasm', import.meta.url)))
const PAGE_BYTES = 65_536
const TABLE_ALIGNMENT = 16

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer }
  scan(start: number, end: number): number
  words(start: number, end: number): number
  withoutZeros(start: number, end: number): number
}

/** A scan whose state can be in an instance. */
export interface Owner {
  /** Copies the state of the scan out. */
  leave(engine: Engine): void
}

/**
 * The address of a table in an instance's memory. It holds for one generation: until that memory is
 * full.
 */
interface Placed {
  readonly generation: number
  readonly address: number
}

/** One instance of the module, and the scan whose state is in it. */
export class Engine {
  readonly bytes: Buffer
  readonly ints: Int32Array
  readonly scan: Exports['scan']
  readonly words: Exports['words']
  readonly withoutZeros: Exports['withoutZeros']
  owner: Owner | null = null
  /** Whether events are being reported; a handler may start another scan. */
  busy = false
  /** The end of the last piece read. */
  end = 0
  #generation = 1
  #free = TABLES
  readonly #placed = new WeakMap<object, Placed>()

  constructor() {
    const { memory, scan, words, withoutZeros } = new WebAssembly.Instance(MODULE)
      .exports as Exports
    this.bytes = Buffer.from(memory.buffer)
    this.ints = new Int32Array(memory.buffer)
    this.scan = scan
    this.words = words
    this.withoutZeros = withoutZeros
  }

  /** The addresses of both tables, which are valid until another scan asks. */
  place(paths: PathTable, filter: StringFilter): readonly [paths: number, filter: number] {
    for (;;) {
      const pathsAt = this.#place(paths, () => paths.image)
      const generation = this.#generation
      const filterAt = this.#place(filter, () => filterTable(filter))
      if (this.#generation === generation) return [pathsAt, filterAt]
    }
  }

  #place(key: object, imageOf: () => Uint8Array): number {
    const placed = this.#placed.get(key)
    if (placed !== undefined && placed.generation === this.#generation) return placed.address
    const image = imageOf()
    // There are a few hundred in total; tests create more.
    if (this.#free + image.length > MEMORY_PAGES * PAGE_BYTES) {
      this.#generation++
      this.#free = TABLES
    }
    const address = this.#free
    this.bytes.set(image, address)
    this.#free += Math.ceil(image.length / TABLE_ALIGNMENT) * TABLE_ALIGNMENT
    this.#placed.set(key, { generation: this.#generation, address })
    return address
  }
}

let lastSerial = 0

/** A number that is unique among 2³¹ scans. */
export const nextSerial = (): number => (lastSerial = (lastSerial % 0x7fffffff) + 1)

const engines: Engine[] = []

/** An instance that is not reporting events. */
export function freeEngine(): Engine {
  for (const engine of engines) if (!engine.busy) return engine
  const engine = new Engine()
  engines.push(engine)
  return engine
}

let forWords: Engine | null = null

/** The instance that splits words, which uses the memory of a JSON scan differently. */
export const wordEngine = (): Engine => (forWords ??= new Engine())

/** Whether the module itself has failed. */
export const isTrap = (error: unknown): boolean => error instanceof WebAssembly.RuntimeError

/** Drops an instance that has failed; another one will be created. */
export function dropEngine(engine: Engine): void {
  if (engine === forWords) forWords = null
  const at = engines.indexOf(engine)
  if (at >= 0) engines.splice(at, 1)
}
