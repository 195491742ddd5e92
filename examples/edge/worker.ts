// A worker: what is posted to it goes to Gemini, and the response streams back. The key stays with
// the worker.
import { createProxyGenai } from '@proxy-sdk/genai'
import { streamText } from 'ai'

interface Env {
  AI_PROXY_KEY: string
  AI_PROXY_URL: string
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (request.method !== 'POST')
      return new Response('POST a question.\n', { status: 405, headers: { Allow: 'POST' } })
    const google = createProxyGenai({ apiKey: env.AI_PROXY_KEY, proxyUrl: env.AI_PROXY_URL })
    const { textStream } = streamText({
      model: google('gemini-2.5-flash'),
      prompt: await request.text(),
      abortSignal: request.signal,
    })
    return new Response(textStream.pipeThrough(new TextEncoderStream()), {
      headers: { 'Content-Type': 'text/plain; charset=utf-8' },
    })
  },
}
