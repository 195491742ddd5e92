// Compares the Node from npm with Node's own release: for each pinned SHA-256 (node-binaries.json)
// it downloads the archive from nodejs.org, checks it against SHASUMS256.txt, and its `bin/node`
// against the pin. Needs a network and `tar`. `npm run node:compare [-- ADDRESS [PINS]]`; if gpg
// has the keys of Node's releasers (https://github.com/nodejs/release-keys), it also checks the
// signature of the list. Exits with 1 if anything differs.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'

const Pinned = z.record(z.string(), z.object({ version: z.string(), sha256: z.string() }))
const pinned = Pinned.parse(
  JSON.parse(
    readFileSync(process.argv[3] ?? join(import.meta.dirname, 'node-binaries.json'), 'utf8'),
  ),
)
const origin = process.argv[2] ?? 'https://nodejs.org/dist'
const MAX_BINARY_BYTES = 512 * 1024 * 1024

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

async function download(address: string): Promise<Buffer> {
  const answer = await fetch(address)
  if (!answer.ok) throw new Error(`${address} answered ${answer.status}`)
  return Buffer.from(await answer.arrayBuffer())
}

/** The result of gpg for the signed list. */
function signature(folder: string, signed: Buffer): string {
  const path = join(folder, 'SHASUMS256.txt.asc')
  writeFileSync(path, signed)
  const { status, error } = spawnSync('gpg', ['--batch', '--verify', path], { stdio: 'ignore' })
  if (error) return 'signature not checked: there is no gpg'
  return status === 0
    ? 'signature good'
    : 'signature not checked: gpg lacks the key, or the list was changed (gpg --verify says which)'
}

/** @throws Error that names the difference */
async function compare(name: string, version: string, pin: string, folder: string) {
  const release = `${origin}/v${version}`
  const signed = await download(`${release}/SHASUMS256.txt.asc`)
  const archive = `${name.replace(/^node-/, `node-v${version}-`)}.tar.gz`
  const listed = signed
    .toString('utf8')
    .split('\n')
    .find((line) => line.endsWith(`  ${archive}`))
    ?.split(' ')[0]
  if (listed === undefined) throw new Error(`SHASUMS256.txt does not list ${archive}`)
  const bytes = await download(`${release}/${archive}`)
  if (sha256(bytes) !== listed)
    throw new Error(`${archive} is not the one that SHASUMS256.txt lists`)
  const binary = spawnSync('tar', ['-xzOf', '-', `${archive.replace('.tar.gz', '')}/bin/node`], {
    input: bytes,
    maxBuffer: MAX_BINARY_BYTES,
  })
  if (binary.status !== 0) throw new Error(`tar found no bin/node in ${archive}`)
  if (sha256(binary.stdout) !== pin)
    throw new Error(`its bin/node is another one (SHA-256 ${sha256(binary.stdout)})`)
  return signature(folder, signed)
}

const folder = mkdtempSync(join(tmpdir(), 'tollmark-node-'))
try {
  for (const [name, { version, sha256: pin }] of Object.entries(pinned)) {
    try {
      console.log(`same: ${name} ${version}; ${await compare(name, version, pin, folder)}`)
    } catch (error) {
      process.exitCode = 1
      const reason = error instanceof Error ? error.message : String(error)
      console.log(`NOT COMPARED OR DIFFERENT: ${name} ${version}: ${reason}`)
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
