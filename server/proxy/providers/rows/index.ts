// Written by `UPDATE=1 npm test -- test/proxy/providers/rows.test.ts`.
import type { ProviderRow } from '../provider.ts'
import { alibaba } from './alibaba.ts'
import { anthropic } from './anthropic.ts'
import { anthropicAws } from './anthropic-aws.ts'
import { assemblyai } from './assemblyai.ts'
import { azure } from './azure.ts'
import { baseten } from './baseten.ts'
import { bedrock } from './bedrock.ts'
import { blackForestLabs } from './black-forest-labs.ts'
import { bytedance } from './bytedance.ts'
import { cartesia } from './cartesia.ts'
import { cerebras } from './cerebras.ts'
import { cloudflare } from './cloudflare.ts'
import { cohere } from './cohere.ts'
import { deepgram } from './deepgram.ts'
import { deepinfra } from './deepinfra.ts'
import { deepseek } from './deepseek.ts'
import { elevenlabs } from './elevenlabs.ts'
import { fal } from './fal.ts'
import { fireworks } from './fireworks.ts'
import { fishAudio } from './fish-audio.ts'
import { gateway } from './gateway.ts'
import { gladia } from './gladia.ts'
import { gmicloud } from './gmicloud.ts'
import { google } from './google.ts'
import { groq } from './groq.ts'
import { huggingface } from './huggingface.ts'
import { hume } from './hume.ts'
import { klingai } from './klingai.ts'
import { lmnt } from './lmnt.ts'
import { luma } from './luma.ts'
import { minimax } from './minimax.ts'
import { mistral } from './mistral.ts'
import { moonshotai } from './moonshotai.ts'
import { ollama } from './ollama.ts'
import { openai } from './openai.ts'
import { openrouter } from './openrouter.ts'
import { perplexity } from './perplexity.ts'
import { prodia } from './prodia.ts'
import { quiverai } from './quiverai.ts'
import { recraft } from './recraft.ts'
import { replicate } from './replicate.ts'
import { revai } from './revai.ts'
import { together } from './together.ts'
import { vercel } from './vercel.ts'
import { vertex } from './vertex.ts'
import { vertexCloud } from './vertex-cloud.ts'
import { voyage } from './voyage.ts'
import { xai } from './xai.ts'

/** TABLE of built-in providers. */
export const PROVIDERS: readonly ProviderRow[] = [
  alibaba,
  anthropic,
  anthropicAws,
  assemblyai,
  azure,
  baseten,
  bedrock,
  blackForestLabs,
  bytedance,
  cartesia,
  cerebras,
  cloudflare,
  cohere,
  deepgram,
  deepinfra,
  deepseek,
  elevenlabs,
  fal,
  fireworks,
  fishAudio,
  gateway,
  gladia,
  gmicloud,
  google,
  groq,
  huggingface,
  hume,
  klingai,
  lmnt,
  luma,
  minimax,
  mistral,
  moonshotai,
  ollama,
  openai,
  openrouter,
  perplexity,
  prodia,
  quiverai,
  recraft,
  replicate,
  revai,
  together,
  vercel,
  vertex,
  vertexCloud,
  voyage,
  xai,
]
