// The other way, for people who are signed in: the page says `createProxyGenai({ proxyUrl:
// '/api/ai', apiKey: PROXY_MANAGED })` and sends no key, and this route adds one that no page ever
// sees.
import { createProxyHandler } from '@proxy-sdk/core'

const pass = createProxyHandler({
  proxyUrl: process.env.AI_PROXY_URL,
  apiKey: process.env.AI_PROXY_KEY,
  // Put your own check here: who is signed in?
  authorize: () => true,
})

export { pass as GET, pass as POST }
