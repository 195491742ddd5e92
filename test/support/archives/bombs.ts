// Harmful archive data, such as zip bombs.
import { archive, deflatedRun, text, type EntrySpec, type Packed } from './writer.ts'

/** Incompressible bytes, the same in every run. */
export function noise(length: number): Buffer {
  const bytes = Buffer.alloc(length)
  let state = 1
  for (let i = 0; i + 4 <= length; i += 4) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    bytes.writeUInt32LE(state, i)
  }
  return bytes
}

/**
 * Entries whose data starts with the next one's header, skipped over by a stored block: each
 * inflates the last one's content again (D. Fifield, "A better zip bomb", 2019).
 */
export function quotedBomb(): Buffer {
  const kernel = deflatedRun('a', 8)
  const bodies: Buffer[] = []
  const names = Array.from({ length: 100 }, (_, i) => `${i}.html`)
  let rest = Buffer.from(kernel.bytes)
  let size = kernel.size
  for (const name of names.reverse()) {
    const header = Buffer.alloc(30)
    header.writeUInt32LE(0x04034b50, 0)
    header.writeUInt16LE(8, 8)
    header.writeUInt32LE(1, 14)
    header.writeUInt32LE(rest.length, 18)
    header.writeUInt32LE(size, 22)
    header.writeUInt16LE(name.length, 26)
    const whole = Buffer.concat([header, text(name), rest])
    bodies.unshift(whole)
    const quote = Buffer.alloc(5)
    quote.writeUInt16LE(30 + name.length, 1)
    quote.writeUInt16LE(0xffff ^ (30 + name.length), 3)
    size += 30 + name.length
    rest = Buffer.concat([quote, whole])
  }
  const first = bodies[0]!
  names.reverse()
  const listed = names.map((name, i): EntrySpec => {
    const body = bodies[i]!
    const fields = {
      headerAt: first.length - body.length,
      packedSize: body.readUInt32LE(18),
      size: body.readUInt32LE(22),
      crc: 1,
    }
    return { name, bodiless: true, central: { ...fields, method: 8 } }
  })
  const directory = archive(listed)
  const at = directory.length - 22
  directory.writeUInt32LE(first.length, at + 16)
  return Buffer.concat([first, directory])
}

/** Pages of 30 MB that inflate 190 times: each is allowed, but not all together. */
export function twoGigabytes(): Buffer {
  const run = deflatedRun('a', 29)
  // Stored blocks in front lower the ratio.
  const bytes = Buffer.concat([
    storedBlock(noise(60_000)),
    storedBlock(noise(60_000)),
    storedBlock(noise(40_000)),
    run.bytes,
  ])
  return archive(
    Array.from({ length: 70 }, (_, i) => ({
      name: `${i}.html`,
      packed: { bytes, size: run.size + 160_000, crc: 1 },
    })),
  )
}

function storedBlock(data: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt16LE(data.length, 1)
  head.writeUInt16LE(0xffff ^ data.length, 3)
  return Buffer.concat([head, data])
}

/** Megabytes of empty stored blocks. */
export function emptyBlocks(megabytes: number): Buffer {
  const block = Buffer.from([0, 0, 0, 0xff, 0xff])
  return Buffer.concat([
    Buffer.alloc(Math.floor((megabytes * 1024 * 1024) / 5) * 5, block),
    Buffer.from([3, 0]),
  ])
}

export function damagedMiddle(): Packed {
  const run = deflatedRun('P', 20)
  const bytes = Buffer.from(run.bytes)
  bytes.fill(0xff, bytes.length / 2)
  return { ...run, bytes }
}

export function withTail(length: number): Packed {
  const run = deflatedRun('P', 20)
  return { ...run, bytes: Buffer.concat([run.bytes, Buffer.alloc(length, 't')]) }
}

/** Truncates the data to half. */
export function cutShort(packed: Packed): Packed {
  return { ...packed, bytes: packed.bytes.subarray(0, packed.bytes.length / 2) }
}
