// The AI SDK's providers do the same with the proxy between them and the provider as they do
// without it: generate, stream, objects, tools, embeddings, images, speech, transcription, files
// and video, whatever each of them has; and their errors.
import { test } from 'node:test'
import { ANTHROPIC_CASES } from './cases/anthropic.ts'
import { CHAT } from './cases/chat.ts'
import { brokenOff, REFUSED } from './cases/failures.ts'
import { GOOGLE_CASES } from './cases/google.ts'
import { OPENAI_CASES } from './cases/openai.ts'
import { OTHER_CASES } from './cases/others.ts'
import { startTwice, type Case } from './twice.ts'

const WELL = [...CHAT, ...OPENAI_CASES, ...ANTHROPIC_CASES, ...GOOGLE_CASES, ...OTHER_CASES]

/** TABLE of groups. */
const GROUPS: [name: string, cases: readonly Case[]][] = [
  ['the AI SDK gets the same through the proxy', WELL],
  ['the AI SDK meets the same errors through the proxy', REFUSED],
  ['the AI SDK sees the same broken streams through the proxy', brokenOff(WELL)],
]

globalThis.AI_SDK_LOG_WARNINGS = false
for (const [name, cases] of GROUPS) {
  test(name, async (t) => {
    const twice = await startTwice(t)
    for (const one of cases) await t.test(one.name, () => twice.compare(one))
  })
}
