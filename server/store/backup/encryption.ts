// Encrypts backups for an operator's public key, so that the machine that makes them cannot read
// them.
//
// A file is `MAGIC`, an X25519 public key made for this file (32 bytes), then pieces of CHUNK bytes
// (the last one shorter), each under AES-256-GCM with its tag (16 bytes) behind it. The key is
// HKDF-SHA256 (RFC 5869) of the X25519 result (RFC 7748), salt: both public keys, info: MAGIC. The
// nonce is the piece's number (11 bytes, big-endian) and 1 for the last piece, else 0, so that
// pieces can be neither moved nor cut off (STREAM, Hoang et al. 2015, as age does it).
import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
} from 'node:crypto'
import { SetupError } from '../../common/errors.ts'

const MAGIC = Buffer.from('tollmark-backup-v1\n')
const CHUNK = 65_536
const TAG = 16
const KEY = 32
/** DER in front of the 32 bytes of an X25519 public key (RFC 8410, section 4). */
const SPKI = Buffer.from('302a300506032b656e032100', 'hex')

const NOT_OURS = 'The file is not an encrypted backup.'

/** Reads a public key for backups. @throws SetupError if it is not an X25519 key in PEM */
export function readRecipient(pem: string): KeyObject {
  return readKey(pem, createPublicKey, 'public')
}

/** Reads a private key for restoring. @throws SetupError if it is not an X25519 key in PEM */
export function readIdentity(pem: string): KeyObject {
  return readKey(pem, createPrivateKey, 'private')
}

/** Arguments of `openssl` that make a key: a public one from the private one. */
const MAKES = { private: 'genpkey -algorithm X25519', public: 'pkey -in PRIVATE_KEY -pubout' }

function readKey(
  pem: string,
  read: (pem: string) => KeyObject,
  kind: keyof typeof MAKES,
): KeyObject {
  try {
    const key = read(pem)
    if (key.asymmetricKeyType === 'x25519') return key
  } catch {
    // Throws the error below.
  }
  throw new SetupError(
    `The file holds no ${kind} X25519 key in PEM. "openssl ${MAKES[kind]}" makes one.`,
  )
}

/** Encrypts bytes for the owner of `recipient`. */
export async function* encryptFor(
  recipient: KeyObject,
  source: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const made = generateKeyPairSync('x25519')
  const own = rawOf(made.publicKey)
  const key = deriveKey(made.privateKey, recipient, own, rawOf(recipient))
  yield Buffer.concat([MAGIC, own])
  let number = 0
  for await (const { piece, isLast } of pieces(source, CHUNK)) {
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(number++, isLast))
    yield Buffer.concat([cipher.update(piece), cipher.final(), cipher.getAuthTag()])
  }
}

/**
 * Decrypts what `encryptFor` made.
 *
 * @throws SetupError if a byte was changed, the end is missing, or the key is wrong
 */
export async function* decryptWith(
  identity: KeyObject,
  source: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const head = MAGIC.length + KEY
  let key: Buffer | undefined
  let number = 0
  for await (const { piece, isLast } of pieces(source, CHUNK + TAG, head)) {
    if (key === undefined) {
      // A last piece always follows, even if it is empty.
      if (isLast) throw new SetupError(NOT_OURS)
      key = keyOf(identity, piece)
      continue
    }
    yield open(key, nonceOf(number++, isLast), piece)
  }
}

function keyOf(identity: KeyObject, head: Buffer): Buffer {
  if (head.length < MAGIC.length + KEY || !head.subarray(0, MAGIC.length).equals(MAGIC))
    throw new SetupError(NOT_OURS)
  const raw = head.subarray(MAGIC.length)
  const sender = createPublicKey({ key: Buffer.concat([SPKI, raw]), format: 'der', type: 'spki' })
  return deriveKey(identity, sender, raw, rawOf(createPublicKey(identity)))
}

function open(key: Buffer, nonce: Buffer, piece: Buffer): Buffer {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG })
    decipher.setAuthTag(piece.subarray(-TAG))
    return Buffer.concat([decipher.update(piece.subarray(0, -TAG)), decipher.final()])
  } catch (error) {
    throw new SetupError(
      'The backup cannot be decrypted: the private key is wrong, or a file was changed.',
      { cause: error },
    )
  }
}

/**
 * Cuts bytes into pieces of `size`; the last one may be shorter, or empty.
 *
 * @param first size of the first piece, if it differs
 */
async function* pieces(
  source: AsyncIterable<Buffer>,
  size: number,
  first = size,
): AsyncGenerator<{ piece: Buffer; isLast: boolean }> {
  let wanted = first
  let held: Buffer = Buffer.alloc(0)
  for await (const bytes of source) {
    held = held.length === 0 ? bytes : Buffer.concat([held, bytes])
    let at = 0
    // A full piece is kept until more data arrives, because it may be the last one.
    for (; held.length - at > wanted; wanted = size) {
      yield { piece: held.subarray(at, at + wanted), isLast: false }
      at += wanted
    }
    held = held.subarray(at)
  }
  yield { piece: held, isLast: true }
}

function deriveKey(mine: KeyObject, theirs: KeyObject, sender: Buffer, recipient: Buffer): Buffer {
  const shared = diffieHellman({ privateKey: mine, publicKey: theirs })
  return Buffer.from(hkdfSync('sha256', shared, Buffer.concat([sender, recipient]), MAGIC, KEY))
}

function rawOf(publicKey: KeyObject): Buffer {
  return publicKey.export({ format: 'der', type: 'spki' }).subarray(-KEY)
}

function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUIntBE(number, 5, 6)
  nonce[11] = isLast ? 1 : 0
  return nonce
}
