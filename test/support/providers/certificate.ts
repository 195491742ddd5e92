// Certificates for fake https providers.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder, type Ends } from '../temporary.ts'

/** A self-signed certificate for a host, and its file. */
export function certificateOf(t: Ends, host: string): { key: Buffer; cert: Buffer; file: string } {
  const folder = temporaryFolder(t)
  const [keyFile, file] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '2',
      '-subj',
      `/CN=${host}`,
      '-addext',
      `subjectAltName=DNS:${host}`,
      '-keyout',
      keyFile,
      '-out',
      file,
    ],
    { stdio: 'ignore' },
  )
  return { key: readFileSync(keyFile), cert: readFileSync(file), file }
}
