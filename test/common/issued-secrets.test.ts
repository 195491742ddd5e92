import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  displayPrefix,
  hashSecret,
  createSecret,
  matchesHash,
  parsePublicId,
  withoutSecrets,
} from '../../server/common/issued-secrets.ts'
import { randomText } from '../../server/common/ids.ts'
import { forged } from '../support/forged.ts'

test('a secret has the documented form and identifies its record', () => {
  const { secret, publicId, hash } = createSecret('tmt')
  assert.match(secret, /^tmt_[0-9A-Za-z]{12}_[0-9A-Za-z]{36}_[0-9A-Za-z]{6}$/)
  assert.equal(parsePublicId('tmt', secret), publicId)
  assert.equal(hash, hashSecret(secret))
  assert.ok(matchesHash(secret, hash))
  assert.ok(!matchesHash(createSecret('tmt').secret, hash))
  assert.equal(parsePublicId('tmt', forged(secret)), publicId)
  assert.ok(!matchesHash(forged(secret), hash))
  assert.ok(secret.startsWith(displayPrefix('tmt', publicId)))
})

test('redacting a secret in text keeps its public id', () => {
  const [one, two] = [createSecret('tmk'), createSecret('tms')]
  assert.equal(
    withoutSecrets(`models/${one.secret}, ${two.secret}`),
    `models/tmk_${one.publicId}_…, tms_${two.publicId}_…`,
  )
  assert.equal(withoutSecrets(`x ${one.secret.slice(0, -1)}`), `x ${one.secret.slice(0, -1)}`)
})

test('all letters and digits of a secret are equally likely', () => {
  // Bytes that are simply folded would bring the first of them more often. Six standard deviations
  // are 473.
  const found = randomText(62_000).replaceAll(/[^0-6]/g, '').length
  assert.ok(Math.abs(found - 7_000) < 500, `${found} of 7,000`)
})

test('the prefix is part of the secret: a token is not a key', () => {
  assert.equal(parsePublicId('tmk', createSecret('tmt').secret), undefined)
  const { secret } = createSecret('tmt')
  assert.equal(parsePublicId('tmk', secret.replace('tmt', 'tmk')), undefined)
})

test('one wrong character is detected without a lookup', () => {
  const { secret } = createSecret('tmk')
  fc.assert(
    fc.property(fc.nat(secret.length - 1), fc.constantFrom(...'0aZ_- é'), (place, wrong) => {
      const changed = secret.slice(0, place) + wrong + secret.slice(place + 1)
      return changed === secret || parsePublicId('tmk', changed) === undefined
    }),
  )
})

test('garbage of any kind is not a secret', () => {
  fc.assert(fc.property(fc.string(), (garbage) => parsePublicId('tmt', garbage) === undefined))
  for (const garbage of [
    '',
    'tmt_',
    'tmt___',
    `tmt_${'a'.repeat(12)}_${'b'.repeat(36)}_${'c'.repeat(6)}`,
  ])
    assert.equal(parsePublicId('tmt', garbage), undefined)
})
