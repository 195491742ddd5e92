import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openLogSink } from '../../server/common/log-sink.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { until } from '../support/until.ts'

const LINES = Array.from({ length: 20_000 }, (_, i) => `${i} ${'ü'.repeat(i % 50)}\n`)

test('lines are written whole, in order, and before the process ends', (t) => {
  const path = join(temporaryFolder(t), 'log')
  const fd = openSync(path, 'w')
  t.after(() => closeSync(fd))
  const lines = openLogSink(fd)
  lines.write('first\n')
  for (const line of LINES) lines.write(line)
  lines.flush()
  assert.equal(readFileSync(path, 'utf8').replace('first\n', ''), LINES.join(''))
})

test('a stalled reader gets every line once it reads again', async (t) => {
  const path = join(temporaryFolder(t), 'pipe')
  execFileSync('/bin/sh', ['-c', 'mkfifo "$1"', 'sh', path])
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  t.after(() => closeSync(fd))
  const lines = openLogSink(fd)
  for (const line of LINES) lines.write(line)
  const all = LINES.join('')
  const read: Buffer[] = []
  await until(() => {
    try {
      for (;;) {
        const piece = Buffer.alloc(65_536)
        read.push(piece.subarray(0, readSync(fd, piece)))
      }
    } catch {
      // Nothing is there at the moment.
    }
    return Buffer.concat(read).length === Buffer.byteLength(all)
  })
  assert.equal(Buffer.concat(read).toString(), all)
})
