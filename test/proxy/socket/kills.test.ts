// kill -9 under sockets: the ledger has every response that the provider has started, once.
import assert from 'node:assert/strict'
import { spawnServer } from '../../support/harness.ts'
import { onEveryStore } from '../../support/stores.ts'
import { killWithSockets } from './kills.ts'

onEveryStore(
  'each response of 20 sockets has one row after kill -9, and the limit holds',
  async (t, place) => {
    const options = { rounds: 1, sockets: 20, rpm: 30, responses: 60 }
    const { started, wrong, limited, violations } = await killWithSockets(
      place,
      options,
      async (env) => {
        const { url, exited, kill } = await spawnServer(t, env)
        return {
          port: Number(new URL(url).port),
          kill: async () => {
            kill('SIGKILL')
            await exited
          },
        }
      },
    )
    assert.ok(started >= options.responses)
    assert.deepEqual(wrong, [])
    assert.deepEqual(violations, [])
    const [{ rows } = { rows: 0 }] = limited
    assert.ok(rows >= 10 && rows <= options.rpm, `${rows}`)
  },
)
