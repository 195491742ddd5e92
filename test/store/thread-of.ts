// Says which thread it runs in, for tests of when threads of the store start and end.
import { threadId } from 'node:worker_threads'
import { procedure, type Steps } from '../../server/store/procedure.ts'

// oxlint-disable-next-line require-yield -- it reads nothing
export const threadOf = procedure(import.meta.url, 'threadOf', function* (): Steps<number> {
  return threadId
})
