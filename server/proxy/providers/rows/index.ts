// Written by `UPDATE=1 npm test -- test/proxy/providers/rows.test.ts`.
import type { ProviderRow } from '../provider.ts'
import { anthropic } from './anthropic.ts'
import { azure } from './azure.ts'
import { bedrock } from './bedrock.ts'
import { cerebras } from './cerebras.ts'
import { cohere } from './cohere.ts'
import { deepseek } from './deepseek.ts'
import { fireworks } from './fireworks.ts'
import { google } from './google.ts'
import { groq } from './groq.ts'
import { mistral } from './mistral.ts'
import { openai } from './openai.ts'
import { openrouter } from './openrouter.ts'
import { perplexity } from './perplexity.ts'
import { together } from './together.ts'
import { vertex } from './vertex.ts'
import { xai } from './xai.ts'

/** TABLE of built-in providers. */
export const PROVIDERS: readonly ProviderRow[] = [
  anthropic,
  azure,
  bedrock,
  cerebras,
  cohere,
  deepseek,
  fireworks,
  google,
  groq,
  mistral,
  openai,
  openrouter,
  perplexity,
  together,
  vertex,
  xai,
]
