import { NEW } from '../object-ref.ts'
import { creates, model, neutral } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'

/** A model, or several, of which the first that supports the language is used. */
const SPEECH = {
  required: ['speech_model', 'speech_models[]'],
  prose: ['prompt'],
  // An upload, or any URL.
  objects: { audio_url: `${NEW}upload` },
} as const

/** AssemblyAI: https://www.assemblyai.com/docs/api-reference */
export const assemblyai: ProviderRow = {
  id: 'assemblyai',
  name: 'AssemblyAI',
  variable: 'ASSEMBLYAI_API_KEY',
  base: 'https://api.assemblyai.com/v2',
  hosts: ['api.assemblyai.com'],
  auth: { header: 'Authorization' },
  probe: { path: '/v2/transcript?limit=1' },
  endpoints: [
    neutral('POST /v2/upload', { ...creates('upload', 'upload_url'), uploads: 'body' }),
    model('POST /v2/transcript', { at: 'body', body: SPEECH }, creates('transcript')),
    neutral('GET /v2/transcript', { listed: { 'transcripts[].id': 'transcript' } }),
    neutral('GET DELETE /v2/transcript/{transcript}'),
    neutral('GET /v2/transcript/{transcript}/{any}'),
    neutral('GET /v2/transcript/{transcript}/redacted-audio'),
  ],
  spelling: { uuids: true },
  errors: { error: '{message}' },
  usage: 'openai',
}
