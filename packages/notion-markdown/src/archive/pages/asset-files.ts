// Copies an export's files into the folder of pages: each content once, under a readable name.
import { createHash } from 'node:crypto'
import { InvalidArchive } from '../invalid-archive.ts'
import type { NotionExport } from '../export.ts'
import type { ZipWriter } from '../zip-writer.ts'
import { nameOf } from './file-names.ts'
import type { FlavorRules } from './flavors.ts'

/** Digits of a content's SHA-256 in its file's name. */
const HASH_DIGITS = 16

/** The copied files of an export. */
export interface CopiedFiles {
  /** The new path of each file, by its path in the export. */
  readonly paths: ReadonlyMap<string, string>
  /** The SHA-256 of each new file, by its path. */
  readonly contents: ReadonlyMap<string, string>
  /** The files whose data is damaged, by their stored paths; a note replaces them. */
  readonly damaged: ReadonlyMap<string, string>
}

/**
 * Copies an export's files into an archive in their packed form.
 *
 * @param places the files with a fixed path, by their stored paths
 * @param time the time of files without their own, in milliseconds since 1970
 */
export async function copyFiles(
  opened: NotionExport,
  zip: ZipWriter,
  rules: FlavorRules,
  places: ReadonlyMap<string, string>,
  time: number,
): Promise<CopiedFiles> {
  const paths = new Map<string, string>()
  const contents = new Map<string, string>()
  const damaged = new Map<string, string>()
  const byContent = new Map<string, string>()
  // In archive order, because parts are inflated from beginning to end.
  for (const stored of opened.files.values()) {
    const fixed = places.get(stored)
    const asset = new AssetName(stored, rules)
    const modified = opened.modifiedAt(stored)?.getTime() ?? time
    let path = ''
    try {
      await zip.addPacked(Buffer.byteLength(fixed ?? asset.template), modified, async (write) => {
        const { sha256, ...packed } = await opened.copyFile(stored, write)
        const known = fixed === undefined ? byContent.get(sha256) : undefined
        path = known ?? fixed ?? asset.free(sha256, contents)
        if (known !== undefined) return null
        if (fixed === undefined) byContent.set(sha256, path)
        contents.set(path, sha256)
        return { ...packed, path }
      })
    } catch (error) {
      if (!(error instanceof InvalidArchive)) throw error
      path = `${asset.stem}-damaged-${paths.size}.txt`
      const note = `This file is damaged in the export: ${error.detail}\n`
      damaged.set(stored, error.detail)
      contents.set(path, createHash('sha256').update(note).digest('hex'))
      await zip.addText(path, modified, note)
    }
    paths.set(stored, path)
  }
  return { paths, contents, damaged }
}

/** The name of an asset, whose digits are known only with its content. */
class AssetName {
  readonly stem: string
  readonly #extension: string

  constructor(stored: string, rules: FlavorRules) {
    const file = stored.slice(stored.lastIndexOf('/') + 1)
    this.#extension = /\.[a-z0-9]{1,10}$/i.exec(file)?.[0].toLowerCase() ?? ''
    const title = decoded(file.slice(0, file.length - this.#extension.length))
    this.stem = `${rules.assets}/${nameOf(title.replace(/[ _-]?[0-9a-f]{32}$/i, ''), rules.names)}`
  }

  /** The path, with its final length in bytes. */
  get template(): string {
    return this.#path('0'.repeat(HASH_DIGITS))
  }

  /**
   * The path for this content; a different one if another content has it, which only an attacker
   * can cause.
   */
  free(sha256: string, taken: ReadonlyMap<string, string>): string {
    for (let n = 0; ; n++) {
      const tail = n === 0 ? '' : n.toString(16)
      const path = this.#path(sha256.slice(0, HASH_DIGITS - tail.length) + tail)
      if (!taken.has(path)) return path
    }
  }

  #path(digits: string): string {
    return `${this.stem}-${digits}${this.#extension}`
  }
}

/** A name as its owner wrote it: some exporters percent-encode names that are not Latin. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
