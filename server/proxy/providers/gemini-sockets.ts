// Sockets of the Gemini API: live sessions and music.
import {
  GEMINI_ROUTED,
  GEMINI_STORED,
  geminiObjects,
  geminiObjectsOf,
  spellings,
} from './gemini-bodies.ts'
import { BY_MINUTE, type SocketRow } from './socket-row.ts'
import { GEMINI_TOOL_KEYS } from './tools.ts'

const ERROR = { error: { code: '{status}', message: '{message}', status: '{google}' } }

/**
 * Live sessions: https://ai.google.dev/api/live. The first message sets one up, for one model; a
 * handle resumes an earlier session, which anyone may have set up.
 */
export const GEMINI_LIVE: SocketRow = {
  counts: 'responses',
  body: {
    required: [],
    also: ['model', 'setup.model', ...GEMINI_ROUTED.map((place) => `setup.${place}`)],
    stored: GEMINI_STORED.map((place) => `setup.${place}`),
    keyedTools: { at: ['setup.tools[]'], keys: GEMINI_TOOL_KEYS },
    prose: [
      'setup.systemInstruction.parts[].text',
      'clientContent.turns[].parts[].text',
      'realtimeInput.text',
      'realtimeInput.audio.data',
      'realtimeInput.video.data',
      'realtimeInput.mediaChunks[].data',
      'toolResponse.functionResponses[].response.*',
    ].flatMap(spellings),
    objects: {
      ...geminiObjectsOf('setup.'),
      ...geminiObjects('file', 'clientContent.turns[].parts[].fileData.fileUri'),
      ...geminiObjects('live_session', 'setup.sessionResumption.handle'),
    },
  },
  naming: ['setup.model'],
  namedLater: true,
  quiet: ['setup.model'],
  mediaText: ['audio/pcm;rate=16000', 'audio/pcm'].map(
    (type) => ['{"realtimeInput":{"audio":{"data":"', `","mimeType":"${type}"}}}`] as const,
  ),
  starts: spellings('clientContent.turnComplete').map((place) => `${place}=true`),
  mayStart: [
    ...spellings('clientContent.turnComplete'),
    ...spellings('clientContent.turns'),
    ...['realtimeInput', 'toolResponse'].flatMap(spellings),
  ],
  begins: ['serverContent.modelTurn', 'serverContent.outputTranscription', 'toolCall'],
  ends: ['serverContent.turnComplete=true'],
  fails: ['error'],
  usage: 'usageMetadata',
  error: ERROR,
}

/** Lyria RealTime plays until it is stopped: https://ai.google.dev/api/live_music */
export const GEMINI_MUSIC: SocketRow = {
  ...BY_MINUTE,
  body: {
    required: [],
    also: ['model', 'setup.model'],
    prose: spellings('clientContent.weightedPrompts[].text'),
  },
  naming: ['setup.model'],
  namedLater: true,
  quiet: ['setup.model', ...['musicGenerationConfig', 'playbackControl'].flatMap(spellings)],
  mayStart: spellings('clientContent.weightedPrompts'),
  error: ERROR,
}
