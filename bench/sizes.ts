// `npm run bench -- sizes`: how many gzipped bytes each client package adds to an app.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildPackages, CLIENT_PACKAGES } from '../scripts/build-packages.ts'
import { measure } from '../test/packages/sizes.ts'

const project = mkdtempSync(join(tmpdir(), 'tollmark-sizes-'))
try {
  await buildPackages(join(project, 'node_modules'), CLIENT_PACKAGES)
  console.table(
    (await measure(project)).map(({ name, gzipped, most }) => ({ package: name, gzipped, most })),
  )
} finally {
  rmSync(project, { recursive: true, force: true })
}
