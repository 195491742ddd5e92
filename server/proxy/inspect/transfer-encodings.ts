// Decodes a part of a form in base64 or quoted-printable (RFC 2045, section 6), in pieces of any
// length.

/** Decodes one part, piece by piece. */
export interface TransferDecoder {
  /** The bytes that can be decoded so far. */
  write(piece: Buffer): Buffer
  end(): Buffer
}

const NOTHING = Buffer.alloc(0)

/** A decoder for an encoding; null for an unknown one. */
export function transferDecoder(encoding: string): TransferDecoder | null {
  return encoding === 'base64'
    ? new Base64()
    : encoding === 'quoted-printable'
      ? new QuotedPrintable()
      : null
}

class Base64 implements TransferDecoder {
  #rest = ''

  write(piece: Buffer): Buffer {
    // Non-digits are skipped, as the RFC requires.
    const digits = this.#rest + piece.toString('latin1').replaceAll(/[^A-Za-z0-9+/_-]+/g, '')
    const whole = digits.length - (digits.length % 4)
    this.#rest = digits.slice(whole)
    return Buffer.from(digits.slice(0, whole), 'base64')
  }

  end(): Buffer {
    return Buffer.from(this.#rest, 'base64')
  }
}

class QuotedPrintable implements TransferDecoder {
  #rest = ''

  write(piece: Buffer): Buffer {
    const text = this.#rest + piece.toString('latin1')
    // An escape has three bytes, and so has a soft line break; spaces may come before that.
    const cut = text.lastIndexOf('=') > text.length - 3 ? text.lastIndexOf('=') : text.length
    this.#rest = text.slice(cut)
    return decoded(text.slice(0, cut))
  }

  end(): Buffer {
    return this.#rest === '' ? NOTHING : decoded(this.#rest)
  }
}

function decoded(text: string): Buffer {
  const plain = text
    .replaceAll(/=\r?\n/g, '')
    .replaceAll(/=([0-9A-Fa-f]{2})/g, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    )
  return Buffer.from(plain, 'latin1')
}
