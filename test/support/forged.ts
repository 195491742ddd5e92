import { crc32 } from 'node:zlib'
import { base62, randomText } from '../../server/common/ids.ts'

/** A forged secret: the public id of a real one, followed by made-up characters. */
export function forged(secret: string): string {
  const body = `${secret.split('_', 2).join('_')}_${randomText(36)}`
  return `${body}_${base62(crc32(body), 6)}`
}
