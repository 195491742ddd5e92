import { createProxyExpress } from '@proxy-sdk/genai-express'
import { streamText } from 'ai'

// Vite puts in what begins with VITE_, and leaves NEXT_PUBLIC_… alone: so both are passed.
const vertex = createProxyExpress({
  apiKey: import.meta.env.VITE_AI_PROXY_KEY,
  proxyUrl: import.meta.env.VITE_AI_PROXY_URL,
  contextKey: 'example',
})

const output = document.querySelector('p')!

document.querySelector('button')!.addEventListener('click', async () => {
  output.textContent = ''
  const { textStream } = streamText({
    model: vertex('gemini-2.5-flash'),
    prompt: 'Why is the sky blue?',
  })
  for await (const piece of textStream) output.append(piece)
})
