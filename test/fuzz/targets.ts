// TABLE of what is fuzzed.
import { callers, providers } from './connections.ts'
import { socketFrames } from './frames.ts'
import { pipelines } from './pipelines.ts'
import { json, meter, requestReader, responseReader, target } from './readers.ts'
import type { Target } from './target.ts'

export const FUZZED: Readonly<Record<string, () => Promise<Target>>> = {
  'request-reader': requestReader,
  'response-reader': responseReader,
  'socket-frames': socketFrames,
  json,
  meter,
  target,
  callers,
  pipelines,
  providers,
}
