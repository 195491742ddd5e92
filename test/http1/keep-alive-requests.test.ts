import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { test } from 'node:test'
import { spawnServer } from '../support/harness.ts'
import { usedFolder } from '../support/templates.ts'
import { until } from '../support/until.ts'

test('a burst of connections is accepted while the server is busy', async (t) => {
  const server = await spawnServer(t, { TOLLMARK_DATA: usedFolder(t) })
  // What the system lets wait at most; 0 where it does not say.
  const most =
    process.platform === 'linux' ? Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8')) : 0
  const callers = Math.min(1_500, most)
  server.kill('SIGSTOP')
  let connected = 0
  const sockets = Array.from({ length: callers }, () =>
    createConnection(
      Number(new URL(server.url).port),
      new URL(server.url).hostname,
      () => connected++,
    ).on('error', () => {}),
  )
  await until(() => connected === callers)
  server.kill('SIGCONT')
  for (const socket of sockets) socket.destroy()
  assert.equal((await fetch(`${server.url}/livez`)).status, 200)
})
