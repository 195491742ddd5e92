import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectionConfig } from '../../server/store/postgres/pool.ts'

const connectionString = (query: string) =>
  connectionConfig(new URL(`postgres://u:p@db/x${query}`)).connectionString

test('the modes of TLS that pg warns of are spelled as what they mean', () => {
  for (const mode of ['prefer', 'require', 'verify-ca'])
    assert.equal(
      connectionString(`?sslmode=${mode}&sslrootcert=/ca.pem`),
      'postgres://u:p@db/x?sslmode=verify-full&sslrootcert=%2Fca.pem',
    )
  for (const query of ['', '?sslmode=no-verify', '?sslmode=require&uselibpqcompat=true'])
    assert.equal(connectionString(query), `postgres://u:p@db/x${query}`)
})
