// Ends the thread that it runs in, as only a bug can.
import { procedure, type Steps } from '../../server/store/procedure.ts'

// oxlint-disable-next-line require-yield -- it reads nothing
export const leave = procedure(import.meta.url, 'leave', function* (): Steps<never> {
  // In a thread, this ends the thread only.
  process.exit(0)
})
