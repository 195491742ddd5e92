// Publishes, with provenance, every package whose version is not in the registry, and tags it. For
// the release workflow; `npm run release:publish -- --dry-run` shows what it would do.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { buildPackages, PUBLISHED } from './build-packages.ts'

const Manifest = z.looseObject({ version: z.string() })
const dry = process.argv.includes('--dry-run')
/** Runs a program to its end. @throws Error if it fails */
function run(command: string, args: string[], folder: string): void {
  const { status } = spawnSync(command, args, { cwd: folder, stdio: 'inherit' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`)
}

const into = mkdtempSync(join(tmpdir(), 'tollmark-publish-'))
try {
  await buildPackages(into)
  for (const { name } of PUBLISHED) {
    const target = join(into, name)
    const file = join(target, 'package.json')
    const manifest = Manifest.parse(JSON.parse(readFileSync(file, 'utf8')))
    const tag = `${name}@${manifest.version}`
    if (
      spawnSync('npm', ['view', tag, 'version'], { encoding: 'utf8' }).stdout.trim() ===
      manifest.version
    ) {
      console.log(`${tag} is published`)
      continue
    }
    run('npm', dry ? ['publish', '--dry-run'] : ['publish', '--provenance'], target)
    if (dry) continue
    run('git', ['tag', tag], join(import.meta.dirname, '..'))
    // changesets/action looks for this line, and pushes the tags.
    console.log(`New tag: ${tag}`)
  }
} finally {
  rmSync(into, { recursive: true, force: true })
}
