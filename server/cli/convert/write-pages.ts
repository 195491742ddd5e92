// Writes a folder of pages, again and again: writes changed files, removes those no longer in the
// export, and keeps files that others put there.
import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import {
  fileSource,
  foldName,
  MANIFEST,
  readManifest,
  readPages,
  writeManifest,
  type ManifestFile,
  type PageFile,
} from '@tollmark/notion-markdown/archive'
import { codeOf } from '../../common/errors.ts'
import { makeFolder } from '../../common/make-folder.ts'
import { OwnFolder } from './own-folder.ts'
import { writeError, WriteError } from './write-error.ts'

/** How to write into an existing folder. */
export interface PagesMode {
  /** Whether to write only changed files and remove those no longer in the export. */
  readonly sync: boolean
  /** Whether to keep pages that are no longer in the export. */
  readonly keep: boolean
}

/** What was done with the files. */
export interface PagesWritten {
  readonly written: number
  readonly unchanged: number
  readonly removed: number
  /** Files no longer in the export that were kept because somebody changed them. */
  readonly edited: readonly string[]
}

/**
 * Writes the files of a folder of pages.
 *
 * @param archive the ZIP archive with the pages
 * @param key the export's key, for `unchangedFiles`
 * @throws WriteError before writing anything, if somebody else's file is in the way
 */
export async function writePagesFolder(
  archive: string,
  root: string,
  mode: PagesMode,
  key?: string,
): Promise<PagesWritten> {
  try {
    makeFolder(root)
    await using source = await fileSource(archive)
    return await new PagesUpdate(new OwnFolder(root), await readPages(source), mode, key).run()
  } catch (error) {
    throw codeOf(error) === undefined || error instanceof WriteError
      ? error
      : writeError(root, error)
  }
}

/** One update of a folder. */
class PagesUpdate {
  readonly #folder: OwnFolder
  readonly #files: readonly PageFile[]
  readonly #mode: PagesMode
  #written = 0
  #unchanged = 0
  #removed = 0
  readonly #edited: string[] = []

  readonly #list: PageFile | undefined
  readonly #key: string | undefined

  constructor(folder: OwnFolder, files: readonly PageFile[], mode: PagesMode, key?: string) {
    this.#key = key
    this.#folder = folder
    this.#files = files.filter(({ path }) => path !== MANIFEST)
    this.#mode = mode
    this.#list = files.find(({ path }) => path === MANIFEST)
  }

  async run(): Promise<PagesWritten> {
    const list = readManifest(this.#list ? await textOf(this.#list.content()) : '')
    if (!list) throw new WriteError('The response is not a folder of pages.')
    const { flavor, files } = list
    const oldText = this.#folder.has(MANIFEST)
      ? await readFile(this.#folder.at(MANIFEST), 'utf8')
      : ''
    const old = new Map(readManifest(oldText)?.files.map((file) => [file.path, file]))
    const wanted = new Map(files.map((file) => [file.path, file]))
    this.#checkWay(old, wanted)
    const { gone, kept } = this.#partGone(old, wanted)
    const exportKey = this.#key !== undefined && { exportKey: this.#key }
    const final = writeManifest({ flavor, ...exportKey, files: [...files, ...kept] })
    // However this ends, the next run knows which files are ours.
    if (final !== oldText)
      await this.#writeList(writeManifest({ flavor, files: [...files, ...gone, ...kept] }))
    // On a file system that treats both names as one, removing the old file would remove the new
    // one.
    const folded = new Set([...wanted.keys()].map(foldName))
    const isRenamed = ({ path }: ManifestFile): boolean => folded.has(foldName(path))
    for (const file of gone.filter(isRenamed)) await this.#remove(file)
    for (const file of this.#files) await this.#write(file, wanted.get(file.path))
    for (const file of gone.filter((one) => !isRenamed(one))) await this.#remove(file)
    if (final !== oldText) await this.#writeList(final)
    const counts = { written: this.#written, unchanged: this.#unchanged, removed: this.#removed }
    return { ...counts, edited: this.#edited }
  }

  /** Checks that no file of others is in the way. */
  #checkWay(
    old: ReadonlyMap<string, ManifestFile>,
    wanted: ReadonlyMap<string, ManifestFile>,
  ): void {
    const oldPaths = new Map([...old.keys()].map((path) => [foldName(path), path]))
    for (const { path } of this.#files) {
      if (!this.#folder.has(path) || old.has(path)) continue
      const renamed = oldPaths.get(foldName(path))
      if (renamed !== undefined && this.#folder.isSame(path, renamed)) continue
      if (this.#folder.sha256(path) === wanted.get(path)?.sha256) continue
      throw new WriteError(
        `${this.#folder.at(path)} was not written by tollmark. Move it away, or choose another folder.`,
      )
    }
  }

  /**
   * Splits the files that are no longer made into those to remove and those to keep. A page that
   * has moved is always removed at its old path.
   */
  #partGone(
    old: ReadonlyMap<string, ManifestFile>,
    wanted: ReadonlyMap<string, ManifestFile>,
  ): { gone: ManifestFile[]; kept: ManifestFile[] } {
    const left = [...old.values()].filter(({ path }) => !wanted.has(path))
    if (!this.#mode.sync) return { gone: [], kept: left }
    if (!this.#mode.keep) return { gone: left, kept: [] }
    const pages = new Set([...wanted.values()].flatMap(({ page }) => page ?? []))
    const isRenamed = ({ page }: ManifestFile): boolean => page != null && pages.has(page)
    return { gone: left.filter(isRenamed), kept: left.filter((file) => !isRenamed(file)) }
  }

  async #write(file: PageFile, listed: ManifestFile | undefined): Promise<void> {
    const isSame =
      this.#mode.sync && listed !== undefined && this.#folder.sha256(file.path) === listed.sha256
    if (isSame) return void this.#unchanged++
    await this.#folder.write(file.path, file.content())
    this.#written++
  }

  /** Removes a file of ours, unless somebody changed it. */
  async #remove({ path, sha256 }: ManifestFile): Promise<void> {
    const now = this.#folder.sha256(path)
    if (now === null) return
    if (now !== sha256) return void this.#edited.push(path)
    await this.#folder.remove(path)
    this.#removed++
  }

  #writeList(text: string): Promise<void> {
    return this.#folder.write(MANIFEST, Readable.from([Buffer.from(text)]))
  }
}

async function textOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of content) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}
