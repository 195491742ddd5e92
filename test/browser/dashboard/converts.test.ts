// Exports in the browser: dropped, watched, read, copied, downloaded; and texts that would like to
// be more than text.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { claimJob, reportProgress } from '../../../server/conversion/jobs/claim-job.ts'
import { readFolder } from '../../support/pages-folder.ts'
import { zip } from '../../support/zip.ts'
import { OPENAI } from './seeded.ts'
import { closeShared, cutOff, goTo, pageLink, shareSite, startSite, visit } from './visit.ts'

after(closeShared)

/** Even a small archive becomes a job. */
const ALL_JOBS = { TOLLMARK_ASYNC_ABOVE: '1KB' }

const page = (title: string, body: string): string =>
  `<html><head><meta charset="utf-8"><title>${title}</title></head><body><article class="page sans"><header><h1 class="page-title">${title}</h1></header><div class="page-body">${body}</div></article></body></html>`

test('a dropped export is converted, shown beside its Markdown, copied and downloaded', async (t) => {
  const site = await shareSite()
  const { page: browser, context } = await visit(t, site, await site.setUp())
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: site.url })
  await browser.goto(`${site.url}/convert`)
  await browser.getByText('0 of 10 conversions used today').waitFor()
  const html = page(
    'Handbook',
    '<h1>First day</h1><p>See <a href="https://example.com/">this</a> and <strong>that</strong>.</p><ul class="toggle"><li><details open=""><summary>Why?</summary><p>Because.</p></details></li></ul>',
  )
  const transfer = await browser.evaluateHandle(
    `(() => { const data = new DataTransfer(); data.items.add(new File([${JSON.stringify(html)}], 'Handbook.html', { type: 'text/html' })); return data })()`,
  )
  await browser.locator('[data-drop]').dispatchEvent('drop', { dataTransfer: transfer })
  const preview = browser.getByRole('region', { name: 'Preview' })
  await preview.getByRole('heading', { name: 'First day', level: 2 }).waitFor()
  await preview.getByText('Why?').click()
  await preview.getByText('Because.').waitFor()
  const markdown =
    (await browser.getByRole('region', { name: 'Markdown' }).locator('pre').textContent()) ?? ''
  assert.match(
    markdown,
    /^# Handbook\n\n## First day\n\nSee \[this\]\(https:\/\/example\.com\/\) and \*\*that\*\*\.\n/,
  )
  await browser.getByText('1 of 10 conversions used today').waitFor()

  await browser.getByRole('button', { name: 'Copy the Markdown' }).click()
  await browser.getByText('Copied').waitFor()
  assert.equal(await browser.evaluate('navigator.clipboard.readText()'), markdown)
  const downloading = browser.waitForEvent('download')
  await browser.getByRole('button', { name: 'Download' }).click()
  const download = await downloading
  assert.equal(download.suggestedFilename(), 'Handbook.md')
  assert.equal(readFileSync(await download.path(), 'utf8'), markdown)

  await browser.locator('input[type=file]').setInputFiles({
    name: 'picture.png',
    mimeType: 'image/png',
    buffer: Buffer.from([0x89, 0x50, 0x4e, 0x47]),
  })
  await browser.getByRole('alert').waitFor()
  await browser.getByText('1 of 10 conversions used today').waitFor()
})

test('a folder of pages is created, reports what it kept, and survives a reload', async (t) => {
  const site = await shareSite()
  const { page: browser } = await visit(t, site, await site.setUp())
  await browser.goto(`${site.url}/convert`)
  await browser.getByRole('radio', { name: 'Folder of pages' }).check()
  await browser.getByRole('radio', { name: 'Obsidian' }).check()
  await browser.locator('input[type=file]').setInputFiles({
    name: 'Export.zip',
    mimeType: 'application/zip',
    buffer: zip({ 'A.html': page('Alpha', '<p>one two</p>'), 'B.html': page('Beta', '<p>x</p>') }),
  })
  const result = browser.getByRole('region', { name: 'Result: Export-pages.zip' })
  await result.getByText('5 words, 0 tables, 0 lost').waitFor()
  await browser.reload()
  await result.getByText('5 words, 0 tables, 0 lost').waitFor()
  const downloading = browser.waitForEvent('download')
  await result.getByRole('button', { name: 'Download' }).click()
  const download = await downloading
  assert.equal(download.suggestedFilename(), 'Export-pages.zip')
  const files = readFolder(readFileSync(await download.path()))
  assert.deepEqual([...files.keys()].sort(), ['.tollmark.json', 'Alpha.md', 'Beta.md', 'Index.md'])

  await browser.getByRole('radio', { name: 'One document' }).check()
  await browser.locator('input[type=file]').setInputFiles({
    name: 'B.html',
    mimeType: 'text/html',
    buffer: Buffer.from(page('Beta', '<p>one two three</p>')),
  })
  await browser.getByRole('region', { name: 'Result: B.md' }).getByText('4 words').waitFor()
  // Both are kept.
  await browser.reload()
  const kept = browser.getByRole('list', { name: 'Documents' })
  await kept.getByRole('button', { name: 'Show Export.zip' }).click()
  await result.waitFor()
})

test('the quota on the next page includes conversions made by programs', async (t) => {
  const site = await shareSite()
  const cookie = await site.setUp()
  const { page: browser } = await visit(t, site, cookie, { alone: true })
  await browser.clock.install()
  await browser.goto(`${site.url}/tokens`)
  await browser.getByText('0 of 10').waitFor()
  const form = new FormData()
  form.set('file', new Blob([page('Handbook', '<p>text</p>')]), 'Handbook.html')
  assert.equal(
    (
      await fetch(`${site.url}/api/v1/convert`, {
        method: 'POST',
        headers: { cookie, origin: site.url },
        body: form,
      })
    ).status,
    200,
  )
  await browser.clock.fastForward(60_000)
  await pageLink(browser, 'Convert').click()
  await browser.getByText('1 of 10').waitFor()
})

test('a large archive becomes a job, whose result survives a reload', async (t) => {
  const site = await shareSite()
  const cookie = await site.setUp()
  const { page: browser } = await visit(t, site, cookie)
  const text = '<p>One two three four five six seven eight nine ten.</p>'.repeat(300)
  const pages = Object.fromEntries(
    Array.from({ length: 400 }, (_, number) => [
      `Page ${number}.html`,
      page(`Page ${number}`, text),
    ]),
  )
  await browser.goto(`${site.url}/convert?format=json`)
  await browser
    .locator('input[type=file]')
    .setInputFiles({ name: 'Export.zip', mimeType: 'application/zip', buffer: zip(pages) })
  await browser.waitForURL(/job=job_/)
  assert.match(browser.url(), /format=json/, 'what was chosen stays in the address')
  await browser.reload()
  assert.ok(await browser.getByRole('radio', { name: 'JSON' }).isChecked())
  const region = browser
    .getByRole('region', { name: /Result/ })
    .or(browser.getByText('too large to preview'))
  await region.first().waitFor()
  const id = new URL(browser.url()).searchParams.get('job') ?? ''
  const result = await (await site.api(cookie, 'GET', `/api/v1/jobs/${id}/result`)).text()
  assert.ok(result.length > 5_000_000)
  await browser.getByRole('cell', { name: 'Done' }).waitFor()
  assert.match(
    (await browser.getByRole('link', { name: 'Export.zip' }).getAttribute('href')) ?? '',
    /format=json.*job=job_/,
  )
  const downloading = browser.waitForEvent('download')
  await browser.getByText('Download', { exact: true }).click()
  assert.equal(readFileSync(await (await downloading).path(), 'utf8'), result)
  await browser.getByRole('button', { name: 'Delete Export.zip' }).click()
  await browser.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await browser
    .getByRole('cell', { name: /Expired|Canceled/ })
    .or(browser.getByText('No jobs yet'))
    .waitFor()
})

test("a job's progress is shown live", async (t) => {
  // Nobody works here but this test: the job waits until somebody cancels it.
  const site = await startSite(t, { TOLLMARK_ROLE: 'web', ...ALL_JOBS })
  const cookie = await site.setUp()
  const { page: browser } = await visit(t, site, cookie)
  await browser.goto(`${site.url}/convert`)
  const followed = browser.waitForRequest('**/api/v1/jobs/*/events')
  await browser.locator('input[type=file]').setInputFiles({
    name: 'Export.zip',
    mimeType: 'application/zip',
    buffer: zip({ 'Page.html': page('Page', '<p>text</p>'.repeat(200)) }),
  })
  await followed
  await browser.getByText('Waiting …').waitFor()
  const id = new URL(browser.url()).searchParams.get('job') ?? ''
  const { store } = site.running
  const { id: instance } = await store.db
    .selectFrom('instances')
    .select('id')
    .executeTakeFirstOrThrow()
  const claimant = { claim: 'claim', instance, now: Date.now(), running: [] }
  const { job } = await store.run(claimJob, claimant)
  assert.ok(job?.id === id)
  for (const [done, shown, percent] of [
    [1, '1', 0],
    [1234, '1,234', 49],
    [2500, '2,500', 100],
  ] as const) {
    assert.ok(await reportProgress(store, job, done, 2500))
    await browser.getByText(`${shown} of 2,500 pages`).waitFor()
    await browser
      .getByRole('progressbar', { name: 'Conversion of Export.zip' })
      .and(browser.locator(`[aria-valuenow="${percent}"]`))
      .waitFor({ state: 'attached' })
  }
  assert.equal((await site.api(cookie, 'DELETE', `/api/v1/jobs/${id}`)).status, 204)
  await browser.getByText('Export.zip: canceled').waitFor()
})

test('a job is polled when its events are refused', async (t) => {
  const site = await startSite(t, { TOLLMARK_ROLE: 'web', ...ALL_JOBS })
  const cookie = await site.setUp()
  const { page: browser } = await visit(t, site, cookie)
  await browser.route('**/api/v1/jobs/*/events', (route) =>
    route.fulfill({ status: 503, body: '' }),
  )
  await browser.goto(`${site.url}/convert`)
  await browser.locator('input[type=file]').setInputFiles({
    name: 'Export.zip',
    mimeType: 'application/zip',
    buffer: zip({ 'Page.html': page('Page', '<p>text</p>'.repeat(200)) }),
  })
  await browser.getByText('Waiting …').waitFor()
  const id = new URL(browser.url()).searchParams.get('job') ?? ''
  assert.equal((await site.api(cookie, 'DELETE', `/api/v1/jobs/${id}`)).status, 204)
  await browser.getByText('Export.zip: canceled').waitFor()
})

test('text from others is shown as text', async (t) => {
  const site = await shareSite()
  const cookie = await site.setUp()
  const evil = '<img src=x onerror="window.hacked=1">'
  const { id, secret } = (await (
    await site.api(cookie, 'POST', '/api/v1/keys', { name: evil })
  ).json()) as { id: string; secret: string }
  await site.api(cookie, 'POST', '/api/v1/tokens', { name: '<script>window.hacked=1</script>' })
  await site.api(cookie, 'POST', '/api/v1/credentials', {
    provider: 'anthropic',
    name: evil,
    secret: 'sk',
  })
  await (
    await site.proxied(secret, OPENAI, { model: `${evil}javascript:window.hacked=1` })
  ).arrayBuffer()
  const { page: browser } = await visit(t, site, cookie)
  for (const path of [
    '/?split=model',
    '/keys',
    `/keys/${id}`,
    '/requests',
    '/providers',
    '/tokens',
    `/requests?model=${encodeURIComponent(evil)}`,
    `/keys?search=${encodeURIComponent(evil)}`,
  ]) {
    await goTo(browser, site.url + path)
    await browser
      .locator('[role=status][aria-label=Loading]')
      .first()
      .waitFor({ state: 'detached' })
    assert.equal(
      await browser.locator('#root :is(img, script, iframe, object, embed)').count(),
      0,
      path,
    )
  }
  await goTo(browser, `${site.url}/keys/${id}`)
  await browser.getByRole('heading', { name: evil }).waitFor()

  await goTo(browser, `${site.url}/convert`)
  const escaped = evil.replaceAll('<', '&lt;').replaceAll('"', '&quot;')
  const body = `<p>${escaped}</p><p><a href="javascript:window.hacked=1">click</a> &lt;details&gt;&lt;summary&gt;${escaped}</p><pre><code>${escaped}</code></pre>
    <ul class="toggle"><li><details open=""><summary>${escaped}<a href="javascript:window.hacked=1">x</a></summary><p>${escaped}</p></details></li></ul>
    <figure class="equation"><annotation encoding="application/x-tex">\\href{javascript:window.hacked=1}{x} \\htmlStyle{color:red}{y} ${escaped}</annotation></figure>`
  await browser.locator('input[type=file]').setInputFiles({
    name: `${evil}.html`,
    mimeType: 'text/html',
    buffer: Buffer.from(page(escaped, body)),
  })
  const preview = browser.getByRole('region', { name: 'Preview' })
  await preview.getByRole('heading', { name: evil }).first().waitFor()
  assert.equal(
    await preview.locator('img, script, iframe, object, embed, [onerror], [style*=color]').count(),
    0,
  )
  const links: string[] = await preview
    .locator('a')
    .evaluateAll((found) => found.map((link) => String(link.getAttribute('href'))))
  assert.deepEqual(
    links.filter((href) => !/^(?:https?:|mailto:|#)/.test(href)),
    [],
  )
  assert.equal(await browser.evaluate('window.hacked'), undefined)
})

test('a file dropped outside the box is ignored, and leaving a conversion asks first', async (t) => {
  const site = await shareSite()
  const { page: browser } = await visit(t, site, await site.setUp())
  await browser.route('**/api/v1/convert', () => {})
  await browser.goto(`${site.url}/convert`)
  /** Whether a file that is held over this part, or a word that is dragged there, is refused. */
  const refused = (part: string): Promise<unknown> =>
    browser.evaluate(`['Files', 'Text'].map((kind) => {
      const dataTransfer = new DataTransfer()
      if (kind === 'Files') dataTransfer.items.add(new File(['x'], 'Page.html'))
      else dataTransfer.setData('text/plain', 'x')
      const over = new DragEvent('dragover', { dataTransfer, bubbles: true, cancelable: true })
      document.querySelector(${JSON.stringify(part)}).dispatchEvent(over)
      return over.defaultPrevented
    })`)
  await browser.locator('[data-drop]').waitFor()
  for (const part of ['main', 'nav', 'body'])
    assert.deepEqual(await refused(part), [true, false], part)
  await browser.locator('input[type=file]').setInputFiles({
    name: 'Page.html',
    mimeType: 'text/html',
    buffer: Buffer.from(page('Page', '')),
  })
  await browser.getByRole('button', { name: 'Cancel' }).waitFor()
  assert.deepEqual(await refused('[aria-label=Upload]'), [true, false])

  const asked = browser.waitForEvent('dialog')
  void browser.reload().catch(() => {})
  assert.equal((await asked).type(), 'beforeunload')
  await (await asked).dismiss()
  await browser.getByRole('button', { name: 'Cancel' }).click()
  await browser.getByRole('button', { name: 'Choose files' }).waitFor()
  await browser.reload()
  await browser.getByRole('button', { name: 'Choose files' }).waitFor()
})

test('a conversion and its document survive a visit to another page', async (t) => {
  const site = await startSite(t, ALL_JOBS)
  const { page: browser } = await visit(t, site, await site.setUp())
  const gate = Promise.withResolvers<void>()
  await browser.route('**/api/v1/convert', async (route) => {
    await gate.promise
    await route.continue()
  })
  const to = (name: string): Promise<void> =>
    browser.getByRole('navigation').getByRole('link', { name }).click()
  const choose = (name: string, buffer: Buffer): Promise<void> =>
    browser
      .locator('input[type=file]')
      .setInputFiles({ name, mimeType: 'application/octet-stream', buffer })
  await browser.goto(`${site.url}/convert`)
  await choose('Page.html', Buffer.from(page('Page', '<p>One</p>')))
  await to('Keys')
  await browser.getByRole('heading', { name: 'Keys' }).waitFor()
  await to('Convert')
  await browser.getByRole('button', { name: 'Cancel' }).waitFor()
  gate.resolve()
  await browser.getByRole('heading', { name: 'Page.md' }).waitFor()
  await to('Keys')
  await to('Convert')
  await browser.getByRole('heading', { name: 'Page.md' }).waitFor()
  const accepted = browser.waitForResponse((response) => response.url().endsWith('/api/v1/convert'))
  await choose('Export.zip', zip({ 'Page.html': page('Page', ''), 'fill.bin': Buffer.alloc(2000) }))
  await to('Keys')
  assert.equal((await accepted).status(), 202)
  await browser.getByRole('button', { name: 'Create key' }).first().click()
  await browser.getByRole('dialog').waitFor()
  assert.equal(new URL(browser.url()).pathname + new URL(browser.url()).search, '/keys?new=1')

  await browser.goto(`${site.url}/convert`)
  const next = Promise.withResolvers<void>()
  await browser.route('**/api/v1/convert', async (route) => {
    await next.promise
    await route.continue()
  })
  await choose('Other.html', Buffer.from(page('Other', '')))
  await browser.getByRole('link', { name: 'Export.zip' }).click()
  await browser.getByRole('heading', { name: 'Export.md' }).waitFor()
  next.resolve()
  await browser.getByRole('heading', { name: 'Other.md' }).waitFor()
})

test('several files are converted in turn, within the limits of the server, and a document survives a reload', async (t) => {
  const site = await startSite(t, {
    TOLLMARK_MAX_HTML: '3MB',
    TOLLMARK_MAX_ZIP: '7MB',
    TOLLMARK_MAX_PAGE: '5MB',
    TOLLMARK_MAX_PARTS: '9MB',
  })
  const { page: browser } = await visit(t, site, await site.setUp())
  await browser.goto(`${site.url}/convert`)
  await browser.getByText('.html up to 3 MB, .zip up to 7 MB').waitFor()
  await browser
    .getByText(
      /pages of up to 5 MB each and 1 GB together\. Archives inside it .* up to 9 MB together/,
    )
    .waitFor()
  const files = ['First', 'Second', 'Third'].map((name) => ({
    name: `${name}.html`,
    mimeType: 'text/html',
    buffer: Buffer.from(page(name, '<p>One</p>')),
  }))
  await browser
    .locator('input[type=file]')
    .setInputFiles([
      ...files,
      { name: 'picture.png', mimeType: 'image/png', buffer: Buffer.from('PNG') },
    ])
  await browser.getByText('4 of 4 files finished').waitFor()
  const list = browser.getByRole('region', { name: 'Files' })
  assert.equal(await list.getByText('Done', { exact: true }).count(), 3)
  assert.equal(await list.getByText('Failed', { exact: true }).count(), 1)
  await browser.getByRole('heading', { name: 'Third.md' }).waitFor()
  await list.getByRole('button', { name: 'Show First.html' }).click()
  await browser.getByRole('heading', { name: 'First.md' }).waitFor()
  await browser.reload()
  await browser.getByRole('heading', { name: 'First.md' }).waitFor()
  await browser
    .getByRole('region', { name: 'Documents' })
    .getByRole('button', { name: 'Remove First.html' })
    .click()
  await browser.getByRole('heading', { name: 'First.md' }).waitFor({ state: 'detached' })
})

test('a ZIP is converted with its pictures, and says so if they cannot be read', async (t) => {
  const site = await shareSite()
  const { page: browser } = await visit(t, site, await site.setUp())
  await browser.goto(`${site.url}/convert`)
  const picture = randomBytes(2000)
  const part = zip({
    'Home.html': page('Home', '<p><img src="Home/a%20b.png"></p>'),
    'Home/a b.png': picture,
    'Home/text.txt': 'words '.repeat(500),
  })
  await browser.locator('input[type=file]').setInputFiles({
    name: 'Export.zip',
    mimeType: 'application/zip',
    buffer: zip({ 'Export-1-Part-1.zip': part }),
  })
  await browser.getByRole('button', { name: 'Download with 2 files (.zip)' }).waitFor()
  for (const width of [320, 390]) {
    await browser.setViewportSize({ width, height: 720 })
    assert.deepEqual(await cutOff(browser), [], `${width} px`)
  }
  const downloading = browser.waitForEvent('download')
  await browser.getByRole('button', { name: 'Download with 2 files (.zip)' }).click()
  const download = await downloading
  assert.equal(download.suggestedFilename(), 'Export.zip')
  const file = await download.path()
  const { stdout } = await promisify(execFile)('python3', [
    '-c',
    `import zipfile,sys,hashlib
z=zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None
for n in z.namelist(): print(n, hashlib.sha1(z.read(n)).hexdigest())`,
    file,
  ])
  const sha = (content: Buffer | string): string => createHash('sha1').update(content).digest('hex')
  assert.deepEqual(stdout.trim().split('\n').slice(1).sort(), [
    `Home/a b.png ${sha(picture)}`,
    `Home/text.txt ${sha('words '.repeat(500))}`,
  ])
  assert.match(stdout, /^Export\.md /)

  // As after the user has moved the archive.
  await browser.evaluate(`Blob.prototype.arrayBuffer = () => Promise.reject(new DOMException(''))`)
  await browser.getByRole('button', { name: 'Download with 2 files (.zip)' }).click()
  await browser.getByRole('alert').getByText('files could not be read').waitFor()
  assert.deepEqual(await cutOff(browser), [])
})
