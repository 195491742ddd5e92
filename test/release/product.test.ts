// The package `tollmark` as somebody gets it: its tarball, installed into an empty folder, is the
// whole product.
import assert from 'node:assert/strict'
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { buildProduct, pack } from '../../scripts/build-product.ts'
import { file, form, PAGE } from '../support/form.ts'
import { call, convert } from '../support/harness.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { zip } from '../support/zip.ts'

let folder = ''
let tarball = ''
let server: ChildProcess | undefined
const cleanups: (() => void)[] = []

before(async () => {
  const made = temporaryFolder({ after: (clean: () => void) => void cleanups.push(clean) })
  await buildProduct(join(made, 'tollmark'))
  tarball = pack(join(made, 'tollmark'), made)
  folder = join(made, 'empty')
  mkdirSync(folder)
  // Nothing is asked of a registry: the Node that the package would bring is the one that runs.
  await run('npm', [
    'install',
    '--offline',
    '--omit=optional',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    tarball,
  ])
})

after(async () => {
  if (server?.exitCode === null) {
    server.kill('SIGKILL')
    await once(server, 'exit')
  }
  for (const clean of cleanups) clean()
})

/** The environment of somebody who has a new Node, and nothing of ours. */
function environment(): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env
  return {
    PATH: `${dirname(process.execPath)}${delimiter}${PATH}`,
    HOME,
    TMPDIR: process.env['TMPDIR'],
    PORT: '0',
  }
}

async function run(command: string, args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { cwd: folder, env: environment() })
  return stdout
}

/** As `npx` finds it. */
const bin = (): string => join(folder, 'node_modules', '.bin', 'tollmark')

test('it installs one package, with the licences of its contents', async () => {
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dependencies?: object; optional?: boolean }>
  }
  assert.deepEqual(
    Object.entries(packages)
      .filter(([path, { optional }]) => path !== '' && !optional)
      .map(([path]) => path),
    ['node_modules/tollmark'],
  )
  assert.equal(packages['node_modules/tollmark']?.dependencies, undefined)
  const licences = readFileSync(
    join(folder, 'node_modules', 'tollmark', 'THIRD-PARTY-LICENSES'),
    'utf8',
  )
  for (const name of [
    'hono',
    'kysely',
    'pg',
    'react',
    '@mantine/core',
    '@aws-sdk/client-s3',
    'commander',
  ])
    assert.ok(licences.includes(`\n${name} `) || licences.startsWith(`${name} `), name)
  const files = (await run('tar', ['-tzf', tarball])).split('\n')
  assert.deepEqual(
    files.filter(
      (name) => /\.tsx?$|\.env|\.db|\.test\.|master\.key/.test(name) && !name.includes('/vendor/'),
    ),
    [],
  )
})

test('npx runs it: the version, a conversion of a page and of an archive', async () => {
  assert.match(
    await run('npx', ['--offline', 'tollmark', '--version']),
    /^tollmark \d+\.\d+\.\d+\n$/,
  )
  writeFileSync(join(folder, 'Page.html'), PAGE)
  writeFileSync(join(folder, 'Export.zip'), zip({ 'Page.html': PAGE }))
  assert.match(await run(bin(), ['convert', 'Page.html']), /Be kind\./)
  assert.match(await run(bin(), ['convert', 'Export.zip']), /Be kind\./)
})

test('npx serves the dashboard, the API, keys and uploads, and stops on request', async () => {
  server = spawn(bin(), ['serve', '--json'], {
    cwd: folder,
    env: environment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  server.stderr!.setEncoding('utf8').on('data', (piece: string) => (said += piece))
  while (!said.includes('"url"')) await once(server.stderr!, 'data')
  const { url } = JSON.parse(said.split('\n').find((line) => line.startsWith('{"url"')) ?? '') as {
    url: string
  }
  const page = await fetch(url)
  assert.deepEqual(
    [page.status, page.headers.get('content-type')],
    [200, 'text/html; charset=utf-8'],
  )
  for (const [, path] of (await page.text()).matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g))
    assert.equal((await fetch(`${url}${path}`)).status, 200, path)
  const { secret } = JSON.parse(
    await run(bin(), ['tokens', 'create', '--name', 'x', '--scopes', 'convert,manage', '--json']),
  ) as { secret: string }
  assert.match((await convert(url, secret, form(file('Page.html', PAGE)))).text, /Be kind\./)
  assert.match(
    (await convert(url, secret, form(file('Export.zip', zip({ 'Page.html': PAGE }))))).text,
    /Be kind\./,
  )
  await run(bin(), ['keys', 'create', '--name', 'remote', '--url', url, '--token', secret])
  assert.match((await call(url, '/api/v1/keys', { token: secret })).text, /"name":"remote"/)
  assert.match(await run(bin(), ['keys', 'list']), /remote/)
  assert.match(
    await run(bin(), ['convert', 'Export.zip', '--url', url, '--token', secret]),
    /Be kind\./,
  )
  server.kill('SIGTERM')
  assert.deepEqual(await once(server, 'exit'), [0, null])
})

test(
  'an older Node starts the Node that the package installs',
  { skip: process.platform !== 'linux' },
  async () => {
    const brought = join(folder, 'node_modules', `node-linux-${process.arch}`)
    if (!existsSync(brought)) symlinkSync(dirname(dirname(process.execPath)), brought)
    const bare = join(folder, 'node_modules', 'tollmark')
    const source = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.0.0' } }); process.argv.splice(1, 1, 'tollmark', '--version'); await import(${JSON.stringify(join(bare, 'bin.mjs'))})`
    assert.match(await run(process.execPath, ['--input-type=module', '-e', source]), /^tollmark \d/)
  },
)
