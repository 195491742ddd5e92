// TABLE of the data path's optimisations, each with the change of its source that switches it off.
// The product has no switch for any of them.

export interface Swap {
  readonly name: string
  /** The module, from the root. */
  readonly file: string
  /** Text that occurs once in it, and its replacement. */
  readonly from: string
  readonly to: string
}

export const SWAPS: readonly Swap[] = [
  {
    name: 'identical request heads are not parsed again',
    file: 'server/http1/request-parser.ts',
    from: 'const MAX_CACHED_HEAD_BYTES = 4 * 1024',
    to: 'const MAX_CACHED_HEAD_BYTES = -1',
  },
  {
    name: 'verified keys are not hashed again',
    file: 'server/keys/authenticate.ts',
    from: 'keys.find(known.publicId) === known.found',
    to: 'false',
  },
  {
    name: 'routes are not worked out again',
    file: 'server/proxy/find-route.ts',
    from: 'MAX_ADDRESS_LENGTH = 1_024',
    to: 'MAX_ADDRESS_LENGTH = -1',
  },
  {
    name: 'header values are not searched for ids again',
    file: 'server/proxy/inspect/header-refs.ts',
    from: 'MAX_VALUE_LENGTH = 128',
    to: 'MAX_VALUE_LENGTH = -1',
  },
  {
    name: 'writes of one turn go out together',
    file: 'server/http1/write-batch.ts',
    from: 'if (batch.length === MAX_BATCH) batch = []',
    to: 'if (batch !== null) return writer.writeNow()',
  },
  {
    name: 'young objects are collected after each 32 MB read',
    file: 'server/http1/read-memory.ts',
    from: 'if (uncollected < COLLECT_BYTES) return',
    to: 'if (uncollected >= 0) return',
  },
  {
    name: 'rows travel to the writer with a dictionary',
    file: 'server/ledger/settlement/row-codec.ts',
    from: 'const LOOK_BACK = 16',
    to: 'const LOOK_BACK = 0',
  },
]
