// How converters give way, on a real process whose policy the system tells.
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  guardAgainstStarvation,
  lowerPriority,
} from '../../server/conversion/pool/process-priority.ts'

const linux = { skip: process.platform !== 'linux' && 'only Linux has idle tasks' }
const [OTHER, IDLE] = ['0', '5']

/** A field of proc_pid_stat(5), from the third on. */
const fieldOf = ({ pid }: ChildProcess, number: number): string | undefined =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[number - 3]
const policyOf = (child: ChildProcess): string | undefined => fieldOf(child, 41)

async function becomes(child: ChildProcess, policy: string): Promise<void> {
  for (let looks = 0; policyOf(child) !== policy; looks++) {
    assert.ok(looks < 200, `its policy is ${policyOf(child)}`)
    await sleep(50)
  }
}

test('a background process is an idle task, except while it is starved', linux, async (t) => {
  // It wants nothing, which looks the same from outside.
  const child = spawn('sleep', ['60'])
  t.after(() => child.kill())
  lowerPriority(child.pid!)
  await becomes(child, IDLE)
  assert.equal(getPriority(child.pid), 10)
  const going = guardAgainstStarvation(child.pid!)
  await becomes(child, OTHER)
  going[Symbol.dispose]()
  await becomes(child, IDLE)
})

test('a background process makes progress', linux, async (t) => {
  const child = spawn(process.execPath, ['-e', 'for (;;);'])
  t.after(() => child.kill('SIGKILL'))
  lowerPriority(child.pid!)
  await becomes(child, IDLE)
  // On busy processors it may get nothing, and is then helped: either way it runs.
  const ran = (): number => Number(fieldOf(child, 14))
  using _ = guardAgainstStarvation(child.pid!)
  const before = ran()
  for (let looks = 0; ran() - before < 20; looks++) {
    assert.ok(looks < 400, 'it does not get on')
    await sleep(50)
  }
})

test('a process that has exited is not an error', () => {
  lowerPriority(2 ** 22 + 1)
  guardAgainstStarvation(2 ** 22 + 1)[Symbol.dispose]()
})
