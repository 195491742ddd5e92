// The steps that take and release a blob, as procedures of their own.
import { releaseBlob, takeBlob } from '../../server/store/blobs/blobs.ts'
import { procedure } from '../../server/store/procedure.ts'

export const take = procedure(
  import.meta.url,
  'take',
  function* (db, { id, instance, until }: { id: string; instance: string; until: number }) {
    yield* takeBlob(db, id, instance, until)
  },
)

export const release = procedure(
  import.meta.url,
  'release',
  function* (db, { id }: { id: string }) {
    yield* releaseBlob(db, id)
  },
)
