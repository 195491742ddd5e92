// A key of ten minutes for whoever is signed in: a child of the app's key, whose id and whose token
// (`tollmark tokens create --scopes mint`) only this server knows.
export async function POST() {
  // Put your own check here: who is signed in?
  const visitor = 'user_42'
  const { AI_PROXY_URL, AI_PROXY_KEY_ID, AI_PROXY_MINT_TOKEN } = process.env
  const made = await fetch(`${AI_PROXY_URL}/api/v1/keys/${AI_PROXY_KEY_ID}/children`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${AI_PROXY_MINT_TOKEN}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ ttl: 600, rpm: 10, end_user: visitor }),
  })
  return new Response(made.body, { status: made.status, headers: { 'Cache-Control': 'no-store' } })
}
