import { crc32 } from 'node:zlib'
import { base62, randomText } from '../../server/common/secrets.ts'

/**
 * A secret of the right form with the public id of another one, which is no secret: everything
 * behind it is made up.
 */
export function forged(secret: string): string {
  const body = `${secret.split('_', 2).join('_')}_${randomText(36)}`
  return `${body}_${base62(crc32(body), 6)}`
}
