// Helpers for tests of jobs: archives that become jobs, waiting for their end, and their events
// from a raw socket.
import { connect } from 'node:net'
import type { TestContext } from 'node:test'
import { PAGE, file, form } from './form.ts'
import type { Form, Part } from './form.ts'
import { call } from './harness.ts'
import type { ReceivedResponse } from './harness.ts'
import { until } from './until.ts'
import { zip } from './zip.ts'

/** A job as the API shows it. */
export interface Job {
  id: string
  object: string
  status: string
  format: string
  include_metadata: boolean
  file: { name: string; size: number }
  progress: { pages_done: number; pages_total: number | null }
  created_at: string
  started_at: string | null
  finished_at: string | null
  expires_at: string | null
  result_url: string | null
  error: { code: string; detail: string } | null
  /** Present once the job has succeeded. */
  certificate?: { in: { pages: number } }
}

/** The setting that turns every test archive into a job. */
export const ASYNC = { TOLLMARK_ASYNC_ABOVE: '100' }

/** An export with this many pages. */
export function pagesOf(count: number, words = 1): Buffer {
  const page = (index: number): string =>
    PAGE.replaceAll('Team handbook', `Page ${index}`).replace(
      'Be kind.',
      `Kind words ${index}. `.repeat(words),
    )
  return zip(
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`Page ${index}.html`, page(index)]),
    ),
  )
}

/** The same archive with a wrong page checksum, which only the conversion notices. */
export function damaged(archive: Buffer): Buffer {
  const copy = Buffer.from(archive)
  for (let at = copy.indexOf('Kind'); at >= 0; at = copy.indexOf('Kind', at))
    copy.write('Mean', at, 'latin1')
  return copy
}

/** The form that uploads an archive. */
export function upload(archive: Buffer, ...fields: Part[]): Form {
  return form(file('Export.zip', archive), ...fields)
}

/** An archive whose conversion by one converter takes a while. */
export const slow = (): Form => upload(pagesOf(500, 700))

/** The settings to use with `slow`. */
export const SLOW = { ...ASYNC, TOLLMARK_CONVERSIONS: '1' }

export function getJob(url: string, token: string, id: string): Promise<ReceivedResponse> {
  return call(url, `/api/v1/jobs/${id}`, { token })
}

const TERMINAL = new Set(['succeeded', 'failed', 'canceled', 'expired'])

/** Waits until the job is finished. */
export async function finished(url: string, token: string, id: string): Promise<Job> {
  return jobWhen(url, token, id, ({ status }) => TERMINAL.has(status))
}

/** Milliseconds between two polls: a request costs 3 ms of CPU, which the conversion then lacks. */
const POLL_MS = 50

/** Waits until `holds` is true of the job; what it waits for must then stay true. */
export async function jobWhen(
  url: string,
  token: string,
  id: string,
  holds: (job: Job) => boolean,
): Promise<Job> {
  let job: Job | undefined
  await until(
    async () => {
      const response = await getJob(url, token, id)
      if (response.status === 200) job = response.json<Job>()
      return job !== undefined && holds(job)
    },
    240_000,
    POLL_MS,
  )
  return job!
}

export interface Events {
  /** Everything received, including the head, without chunk framing. */
  readonly text: () => string
  /** The jobs of the events so far. */
  readonly jobs: () => Job[]
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>
  close(): void
}

/** Follows a job's events on a raw socket. */
export function follow(t: TestContext, port: number, token: string, id: string, head = ''): Events {
  const socket = connect(port, '127.0.0.1')
  t.after(() => socket.destroy())
  let raw = ''
  socket.setEncoding('utf8').on('data', (piece: string) => (raw += piece))
  const ended = new Promise<void>((resolve) => {
    socket.once('close', () => resolve())
  })
  socket.on('error', () => {})
  socket.write(
    `GET /api/v1/jobs/${id}/events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n${head}\r\n`,
  )
  const text = (): string => raw.replaceAll(/(?:\r\n|^)[0-9a-f]+\r\n/g, '')
  const jobs = (): Job[] =>
    [...text().matchAll(/event: job\ndata: (.*)\n\n/g)].map(([, data]) => JSON.parse(data!) as Job)
  return { text, jobs, ended, close: () => socket.destroy() }
}
