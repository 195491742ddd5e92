// An S3 server on a folder, in this process.
import type { TestContext } from 'node:test'
import S3rver from 's3rver'
import { freePort } from '../support/free-port.ts'
import { temporaryFolder } from '../support/temporary.ts'

/** The credentials that it takes. */
export const S3_CREDENTIALS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }

export interface S3Server {
  readonly endpoint: string
  /** Where it keeps objects. */
  readonly directory: string
  /** Stops it, and starts it again on the same address with what it held. */
  stop(): Promise<void>
  start(): Promise<void>
}

/** Starts an S3 server without buckets; it ends with the test. */
export async function startS3(t: TestContext): Promise<S3Server> {
  const directory = temporaryFolder(t)
  const port = await freePort()
  let server: S3rver | undefined
  const start = async (): Promise<void> => {
    server = new S3rver({ port, address: '127.0.0.1', silent: true, directory })
    await server.run()
  }
  const stop = async (): Promise<void> => {
    const stopping = server
    server = undefined
    await stopping?.close()
  }
  await start()
  t.after(stop)
  return { endpoint: `http://127.0.0.1:${port}`, directory, start, stop }
}
