// The page, and the one route that it needs: a key of ten minutes for whoever may talk.
import { env } from 'node:process'
import { createOpenAI } from '@ai-sdk/openai'
import { createProxyFetch, PROXY_MANAGED } from '@proxy-sdk/core'
import { defineConfig, type Connect, type Plugin } from 'vite'

const { AI_PROXY_URL: proxyUrl = 'http://localhost:8484', AI_PROXY_KEY: apiKey = '' } = env

const openai = createOpenAI({
  apiKey: PROXY_MANAGED,
  fetch: createProxyFetch({ proxyUrl, apiKey }),
})

function addTokenRoute({ middlewares }: { middlewares: Connect.Server }): void {
  middlewares.use('/api/token', async (request, response, next) => {
    if (request.method !== 'POST') return next()
    // Look here whether somebody is signed in.
    try {
      // The proxy responds in OpenAI's place: with a key of its own that ends by itself.
      const token = await openai.experimental_realtime.getToken({
        model: 'gpt-realtime',
        expiresAfterSeconds: 600,
      })
      response.end(JSON.stringify(token))
    } catch (error) {
      next(error)
    }
  })
}

const tokenRoute: Plugin = {
  name: 'token-route',
  configureServer: addTokenRoute,
  configurePreviewServer: addTokenRoute,
}

export default defineConfig({ plugins: [tokenRoute] })
