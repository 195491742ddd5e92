export { createProxyGenai } from './genai.ts'
export type { ProxyGenai, ProxyGenaiConfig } from './genai.ts'
