// examples/browser, bundled with the engine and opened in a real Chromium: an export is converted
// in the tab, and nothing is sent.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { launchChromium } from '../browser/chromium.ts'
import { workspace } from '../engine/workspaces.ts'
import { seeded } from '../support/random.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { documentOf } from '../../packages/notion-markdown/test/document-of.ts'
import { ROOT } from './project.ts'

const ORIGIN = 'http://export.test'
const TYPES: Readonly<Record<string, string>> = { html: 'text/html', js: 'text/javascript' }

test('examples/browser: a workspace never leaves the tab', async (t) => {
  const folder = temporaryFolder(t)
  // The engine's sources: they are compiled for the tests of packages that are built.
  const config = join(folder, 'vite.config.mjs')
  writeFileSync(config, `export default { resolve: { conditions: ['tollmark', 'browser'] } }`)
  const vite = join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js')
  const example = join(ROOT, 'examples', 'browser')
  const args = ['build', example, '--config', config, '--outDir', folder, '--logLevel', 'error']
  await promisify(execFile)(process.execPath, [vite, ...args])
  const browser = await launchChromium()
  t.after(() => browser.close())
  const page = await browser.newPage()
  const asked: string[] = []
  const wrong: string[] = []
  page.on('pageerror', (error) => wrong.push(String(error)))
  await page.context().route(`${ORIGIN}/**`, (route) => {
    const path = normalize(new URL(route.request().url()).pathname)
    asked.push(`${route.request().method()} ${path}`)
    const file = path === '/' ? '/index.html' : path
    const contentType = TYPES[file.slice(file.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
    return route.fulfill({ body: readFileSync(join(folder, file)), contentType })
  })
  await page.goto(ORIGIN)

  const { archive, pages } = workspace(seeded(7))
  const file = { name: 'Export.zip', mimeType: 'application/zip', buffer: archive }
  await page.getByLabel('The ZIP file of an HTML export').setInputFiles(file)
  const save = page.getByRole('link', { name: 'Save the Markdown' })
  await save.waitFor()
  assert.match((await page.getByRole('status').textContent()) ?? '', /\d+ pages, 0 failed/)
  assert.ok(pages.length > 0)
  const [saved] = await Promise.all([page.waitForEvent('download'), save.click()])
  assert.equal(saved.suggestedFilename(), 'Export.md')
  const markdown = await documentOf(archive, { format: 'markdown', fileName: 'Export.zip' })
  assert.equal(readFileSync(await saved.path(), 'utf8'), markdown)

  const sound = { ...file, buffer: Buffer.from('no archive') }
  await page.getByLabel('The ZIP file of an HTML export').setInputFiles(sound)
  await page.getByRole('status').filter({ hasText: 'ZIP' }).waitFor()
  assert.deepEqual(wrong, [])
  // The page, its program, and the worker's.
  const files = new Set(asked.map((one) => one.replace(/-[\w-]+\.js$/, '.js')))
  assert.deepEqual([...files].toSorted(), [
    'GET /',
    'GET /assets/index.js',
    'GET /assets/worker.js',
  ])
})
