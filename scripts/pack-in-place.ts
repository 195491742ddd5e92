// For `npm pack` in a package's own folder: "prepack" turns the folder into the published package,
// and "postpack" restores it.
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { buildPackages, PUBLISHED } from './build-packages.ts'

const folder = process.cwd()
const manifest = join(folder, 'package.json')
/** The source package.json, while the published one replaces it. */
const kept = join(folder, 'package.source.json')
const MADE = ['dist', 'LICENSE']

function putBack(): void {
  if (existsSync(kept)) renameSync(kept, manifest)
  for (const name of MADE) rmSync(join(folder, name), { recursive: true, force: true })
}

async function make(): Promise<void> {
  const at = PUBLISHED.findIndex((one) => basename(one.folder) === basename(folder))
  const name = PUBLISHED[at]?.name
  if (name === undefined) throw new Error(`${folder} is not a package that is published`)
  const into = mkdtempSync(join(tmpdir(), 'tollmark-pack-'))
  try {
    await buildPackages(into, PUBLISHED.slice(0, at + 1))
    for (const file of MADE) cpSync(join(into, name, file), join(folder, file), { recursive: true })
    // Last, so that a package that cannot be built keeps its package.json.
    renameSync(manifest, kept)
    cpSync(join(into, name, 'package.json'), manifest)
  } finally {
    rmSync(into, { recursive: true, force: true })
  }
}

// Also before packing, because a killed `npm pack` leaves the packed state.
putBack()
if (process.argv[2] !== 'after') await make()
