// Finds the model of a body while it streams, for the ledger. It decides nothing, so it is lenient:
// compressed bodies are not read.
import { valuesOf } from '../../http1/header-fields.ts'
import { headerModels, queryModels } from './outside-body.ts'
import type { Match } from '../providers/match.ts'
import { scannerFor } from './body-reader.ts'
import type { BodyScanner } from './body-scanner.ts'
import { Findings } from './findings.ts'
import { compilePaths } from './places.ts'

/** Observes one streamed body. It never fails. */
export class BodyObserver {
  readonly #findings: Findings | null = null
  readonly #reader: BodyScanner | null = null
  #model: string | null

  constructor(match: Match, headers: readonly string[], pathAndQuery: string) {
    this.#model = headModel(match, pathAndQuery, headers)
    const rule = match.body
    if (
      rule === null ||
      valuesOf(headers, 'content-encoding').some((encoding) => encoding !== 'identity')
    )
      return
    const places = compilePaths(rule)
    this.#findings = new Findings(places, false, undefined)
    this.#findings.model = this.#model
    const reader = scannerFor(rule, places, headers, false, this.#findings)
    if ('write' in reader) this.#reader = reader
  }

  /** The first model that the request names, or null. */
  get model(): string | null {
    return this.#findings?.model ?? this.#model
  }

  /** Whether more bytes are needed. */
  get watching(): boolean {
    return this.#reader !== null
  }

  write(piece: Buffer): void {
    this.#reader?.write(piece)
  }

  /** The body has ended. @returns the model */
  end(): string | null {
    this.#reader?.end()
    return this.model
  }
}

/** The model that a request names outside its body, or null. */
export function headModel(
  match: Match,
  pathAndQuery: string,
  headers: readonly string[],
): string | null {
  const place = match.endpoint?.model
  const inHeader = place?.at === 'header' ? headerModels(place.headers ?? [], headers)[0] : null
  return match.model ?? inHeader ?? queryModels(pathAndQuery, place)?.[0] ?? null
}
