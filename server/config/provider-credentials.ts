// Written by `UPDATE=1 npm test -- test/proxy/providers/rows.test.ts`.

/**
 * TABLE of providers that can be set up by the environment: id → the variable of their credential.
 */
export const PROVIDER_CREDENTIALS: Readonly<Record<string, string>> = {
  anthropic: 'ANTHROPIC_API_KEY',
  azure: 'AZURE_API_KEY',
  bedrock: 'AWS_BEARER_TOKEN_BEDROCK',
  cerebras: 'CEREBRAS_API_KEY',
  cohere: 'COHERE_API_KEY',
  deepseek: 'DEEPSEEK_API_KEY',
  fireworks: 'FIREWORKS_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
  groq: 'GROQ_API_KEY',
  mistral: 'MISTRAL_API_KEY',
  openai: 'OPENAI_API_KEY',
  openrouter: 'OPENROUTER_API_KEY',
  perplexity: 'PERPLEXITY_API_KEY',
  together: 'TOGETHER_API_KEY',
  vertex: 'GOOGLE_VERTEX_API_KEY',
  xai: 'XAI_API_KEY',
}
