// The other way, for people who are signed in: the page says `createProxyGenai({ proxyUrl: '/api/ai', apiKey: PROXY_MANAGED })` and sends no key, and this
// route adds one that no page ever sees. Check who is asking before you use it.
async function pass(request) {
  const headers = new Headers(request.headers)
  for (const name of ['host', 'connection', 'keep-alive', 'transfer-encoding', 'expect', 'cookie']) headers.delete(name)
  headers.set('Authorization', `Bearer ${process.env.AI_PROXY_KEY}`)
  // `fetch` would decode a compressed answer and still call it compressed.
  headers.set('Accept-Encoding', 'identity')
  const { search } = new URL(request.url)
  return fetch(`${process.env.AI_PROXY_URL}/proxy${search}`, { method: request.method, headers, body: request.body, duplex: 'half', signal: request.signal })
}

export { pass as GET, pass as POST }
