// Where connections go: never to a private address that nobody named, and over TLS only to whom the
// certificate names.
import assert from 'node:assert/strict'
import type { lookup } from 'node:dns'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import {
  isPrivateAddress,
  openSocket,
  publicLookup,
  type SocketUser,
} from '../../../server/http1/client/destination.ts'
import { sharedResolve } from '../../../server/http1/client/lookup.ts'
import { destinationOf, PrivateAddressError } from '../../../server/http1/client/client.ts'
import { NODE_FLAGS } from '../../support/node.ts'
import { certificateOf } from '../../support/providers/certificate.ts'
import { respond, startFake } from '../../support/providers/fake.ts'

const UNUSED: SocketUser = {
  ready: () => {},
  read: () => {},
  lost: () => {},
  closeInTurn: (close) => close(),
}

test('addresses that no provider can have are private', () => {
  const rows: [address: string, isPrivate: boolean][] = [
    ['127.0.0.1', true],
    ['10.1.2.3', true],
    ['172.16.0.1', true],
    ['172.32.0.1', false],
    ['192.168.1.1', true],
    ['169.254.169.254', true],
    ['100.64.0.1', true],
    ['100.128.0.1', false],
    ['0.0.0.0', true],
    ['224.0.0.1', true],
    ['255.255.255.255', true],
    ['198.18.0.1', true],
    ['8.8.8.8', false],
    ['104.18.6.192', false],
    ['::1', true],
    ['::', true],
    ['::ffff:127.0.0.1', true],
    ['::ffff:10.0.0.1', true],
    ['::ffff:8.8.8.8', false],
    ['fe80::1', true],
    ['fc00::1', true],
    ['fd12::1', true],
    ['ff02::1', true],
    ['64:ff9b::a00:1', true],
    ['::ffff:0:10.0.0.1', true],
    ['192.0.0.8', true],
    ['192.0.2.1', true],
    ['192.88.99.1', true],
    ['198.51.100.1', true],
    ['203.0.113.1', true],
    ['64:ff9b:1::1', true],
    ['100::1', true],
    ['2001::1', true],
    ['3fff::1', true],
    ['5f00::1', true],
    ['fec0::1', true],
    ['2002:a00:1::', true],
    ['2001:db8::1', true],
    ['2606:4700::6812:6c0', false],
    ['2a00:1450:4001::1', false],
    ['not an address', true],
    // Where clouds tell their machines who they are.
    ['168.63.129.16', true],
    ['168.63.129.15', false],
    ['100.100.100.200', true],
    ['192.0.0.192', true],
    ['169.254.170.2', true],
    ['fd00:ec2::254', true],
    ['fd20:ce::254', true],
    ['161.26.0.10', true],
    ['166.9.0.1', true],
    ['166.12.0.1', false],
    // IPv4 inside IPv6, in hexadecimal as well, and names of interfaces.
    ['::ffff:a9fe:a9fe', true],
    ['::ffff:a83f:8110', true],
    ['::10.0.0.1', true],
    ['::8.8.8.8', true],
    ['64:ff9b::169.254.169.254', true],
    ['64:ff9b:1:a9fe::1', true],
    ['2002:a9fe:a9fe::1', true],
    ['2002:a83f:8110::', true],
    ['2001:0:4136:e378:8000:63bf:3fff:fdd2', true],
    ['2001:20::1', true],
    ['fe80::1%eth0', true],
    ['100:0:0:1::1', true],
    ['240.0.0.1', true],
    ['198.19.255.255', true],
    ['198.20.0.1', false],
    ['127.1', true],
    ['0x7f.0.0.1', true],
    ['2130706433', true],
    ['[::1]', true],
    ['', true],
  ]
  for (const [address, isPrivate] of rows)
    assert.equal(isPrivateAddress(address), isPrivate, address)
})

/** A resolver with these responses. */
function resolver(addresses: { address: string; family: number }[]): typeof lookup {
  return ((
    _name: string,
    { all }: { all: boolean },
    done: (error: Error | null, found?: object[]) => void,
  ) => {
    assert.ok(all)
    done(addresses.length === 0 ? new Error('unknown host') : null, addresses)
  }) as unknown as typeof lookup
}

test('a name that resolves to private addresses is not dialled; of a mixed result only public ones are', () => {
  const ask = (addresses: { address: string; family: number }[], all: boolean) => {
    let result: unknown[] = []
    publicLookup(resolver(addresses))(
      'rebinding.test',
      { all },
      (...given: unknown[]) => (result = given),
    )
    return result
  }
  const [inside, outside] = [
    { address: '10.0.0.7', family: 4 },
    { address: '8.8.8.8', family: 4 },
  ]
  assert.ok(ask([inside], true)[0] instanceof PrivateAddressError)
  assert.ok(ask([inside], false)[0] instanceof PrivateAddressError)
  assert.deepEqual(ask([inside, outside], true), [null, [outside]])
  assert.deepEqual(ask([inside, outside], false), [null, '8.8.8.8', 4])
  assert.match(String(ask([], true)[0]), /unknown host/)
})

test('connections that wait for one name share its resolution; later ones resolve again', () => {
  const asked: [name: string, respond: () => void][] = []
  const resolve = sharedResolve(
    (hostname, _, found) =>
      void asked.push([hostname, () => found(null, [{ address: '8.8.8.8', family: 4 }])]),
  )
  const lookup = publicLookup(resolve)
  let resolved = 0
  const dialAll = () => {
    for (let i = 0; i < 1_000; i++)
      lookup('burst.test', { all: true }, (error) => void (error === null && resolved++))
  }
  dialAll()
  lookup('other.test', { all: true }, (error) => void (error === null && resolved++))
  assert.deepEqual(
    asked.map(([name]) => name),
    ['burst.test', 'other.test'],
  )
  asked[1]![1]()
  assert.equal(resolved, 1)
  asked[0]![1]()
  assert.equal(resolved, 1_001)
  dialAll()
  assert.equal(asked.length, 3)
})

test('a name is resolved and checked when it is dialled', async () => {
  const dial = { ...destinationOf(new URL('https://localhost:1')), allowPrivate: false }
  for (const tls of [true, false]) {
    const [error] = await once(openSocket({ ...dial, tls }, UNUSED), 'error').catch(
      (thrown: unknown) => [thrown],
    )
    assert.ok(error instanceof PrivateAddressError, String(error))
  }
})

test('an address or localhost only changes the route; another name is another server', () => {
  const origin = new URL('https://api.openai.com')
  const rows: [
    base: string,
    host: string,
    port: number,
    name: string,
    hostHeader: string,
    basePath: string,
  ][] = [
    ['https://api.openai.com', 'api.openai.com', 443, 'api.openai.com', 'api.openai.com', ''],
    ['http://127.0.0.1:9000', '127.0.0.1', 9000, 'api.openai.com', 'api.openai.com', ''],
    ['https://[::1]:9000/u/', '::1', 9000, 'api.openai.com', 'api.openai.com', '/u'],
    ['http://localhost:9000/a/b', 'localhost', 9000, 'api.openai.com', 'api.openai.com', '/a/b'],
    [
      'http://eu.api.openai.com',
      'eu.api.openai.com',
      80,
      'eu.api.openai.com',
      'eu.api.openai.com',
      '',
    ],
    [
      'https://eu.api.openai.com',
      'eu.api.openai.com',
      443,
      'eu.api.openai.com',
      'eu.api.openai.com',
      '',
    ],
  ]
  for (const [base, host, port, servername, hostHeader, basePath] of rows) {
    const { tls, allowPrivate, ...dial } = destinationOf(origin, new URL(base))
    assert.deepEqual(dial, { host, port, servername, hostHeader, basePath }, base)
    assert.equal(tls, base.startsWith('https'))
    assert.equal(allowPrivate, true)
  }
  assert.equal(destinationOf(origin).allowPrivate, false)
  for (const named of ['https://10.0.0.7', 'https://localhost:9000'])
    assert.equal(destinationOf(new URL(named)).allowPrivate, true, named)
  assert.throws(() => destinationOf(origin, new URL('ftp://127.0.0.1')), TypeError)
})

test('a private address that is not configured is refused before a socket opens', () => {
  const dial = {
    ...destinationOf(new URL('https://api.test'), new URL('http://127.0.0.1:1')),
    allowPrivate: false,
  }
  assert.throws(() => openSocket(dial, UNUSED), PrivateAddressError)
})

test('a certificate for another name or from an unknown issuer ends the connection before anything is sent', async (t) => {
  const { key, cert, file } = certificateOf(t, 'api.openai.com')
  const names: string[] = []
  const fake = await startFake(respond(200, {}, 'secret'), {
    key,
    cert,
    SNICallback: (name, done) => {
      names.push(name)
      done(null)
    },
  })
  t.after(() => fake.close())
  // In a process of its own: whom Node trusts is decided when it starts.
  const tries: [host: string, trusted: boolean, ends: string][] = [
    ['api.openai.com', true, '200'],
    ['api.openai.com', false, 'unreachable'],
    ['api.anthropic.com', true, 'unreachable'],
  ]
  for (const [host, trusted, ends] of tries) {
    const said = await outputOf(
      join(import.meta.dirname, 'destination-process.ts'),
      [`https://${host}`, fake.origin],
      trusted ? { NODE_EXTRA_CA_CERTS: file } : {},
    )
    assert.equal(said, ends, `${host} ${trusted}`)
  }
  assert.deepEqual(names, ['api.openai.com', 'api.openai.com', 'api.anthropic.com'])
  assert.equal(fake.requests.length, 1)
})

async function outputOf(
  file: string,
  args: string[],
  env: Record<string, string>,
): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [...NODE_FLAGS, file, ...args], {
    env: { ...process.env, ...env },
  })
  return stdout.trim()
}
