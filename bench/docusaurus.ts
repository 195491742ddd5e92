// Whether folders of pages for Docusaurus build: `npm run bench -- docusaurus FOLDER`. Installs
// Docusaurus into a temporary folder (from npm's registry), converts every export below FOLDER with
// `flavor=docusaurus`, builds a site of all of them, and follows every link in it. --site DIR  a
// folder where Docusaurus is installed already, or is to stay installed Fails if the build warns,
// or if a link, an anchor or a file of the site is broken.
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs, stripVTControlCharacters } from 'node:util'
import { convertPages, OWN_LIMITS } from '../packages/notion-markdown/src/archive/index.ts'
import { exportsIn } from '../test/corpus/exports.ts'
import { readFolder } from '../test/support/pages-folder.ts'
import { crawl } from './parts/site-crawl.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { site: { type: 'string' } },
})
const [folder] = positionals
if (!folder) {
  console.error('usage: npm run bench -- docusaurus FOLDER [--site DIR]')
  process.exit(2)
}
/** Most faults shown. */
const MAX_SHOWN = 40

const scratch = mkdtempSync(join(tmpdir(), 'tollmark-bench-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))
const site = values.site ?? join(scratch, 'site')
mkdirSync(site, { recursive: true })
cpSync(join(import.meta.dirname, 'docusaurus'), site, { recursive: true })
if (!existsSync(join(site, 'node_modules'))) run('npm', ['install', '--no-audit', '--no-fund'])

const exports = join(site, 'exports')
rmSync(exports, { recursive: true, force: true })
let pages = 0
for (const [n, { archive }] of exportsIn(folder, scratch).entries()) {
  const output = join(scratch, `${n}.zip`)
  const options = {
    path: archive,
    kind: 'zip',
    fileName: 'Export.zip',
    format: 'markdown',
  } as const
  const converted = await convertPages(
    {
      ...options,
      flavor: 'docusaurus',
      includeMetadata: false,
      uploadedAt: new Date(0),
      limits: OWN_LIMITS,
    },
    output,
  )
  pages += converted.pages
  for (const [path, content] of readFolder(readFileSync(output))) {
    const file = join(exports, `export-${n}`, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
  }
}

const began = performance.now()
const said = run(join('node_modules', '.bin', 'docusaurus'), ['build'])
const seconds = ((performance.now() - began) / 1000).toFixed(0)
// KaTeX always warns about characters without metrics, whatever its options.
const warnings = said
  .split('\n')
  .filter((line) => /warn|error/i.test(line) && !line.startsWith('No character metrics'))
if (warnings.length > 0) console.log(said)
const { files, links, broken } = crawl(join(site, 'build'))
for (const one of broken.slice(0, MAX_SHOWN)) console.log(one)
console.log(`${pages} pages, built in ${seconds} s: ${warnings.length} lines with warnings`)
console.log(`${links} links of ${files} pages of the site: ${broken.length} lead nowhere`)
process.exitCode = warnings.length === 0 && broken.length === 0 ? 0 : 1

/** Runs a program in the site. @returns its output @throws Error with the output if it fails */
function run(program: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: site,
    encoding: 'utf8',
    maxBuffer: 1e9,
  })
  const text = stripVTControlCharacters(stdout + stderr)
  if (status !== 0) throw new Error(`${program} has failed: ${text}`, { cause: error })
  return text
}
