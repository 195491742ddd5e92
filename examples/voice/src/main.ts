import { createOpenAI } from '@ai-sdk/openai'
import { createProxyWebSocket, PROXY_MANAGED } from '@proxy-sdk/core'
import {
  Experimental_AbstractRealtimeSession as RealtimeSession,
  type Experimental_RealtimeState as RealtimeState,
} from 'ai'

// The AI SDK opens its socket with the page's own constructor. The key comes from /api/token.
const proxyUrl = import.meta.env.VITE_AI_PROXY_URL ?? 'http://localhost:8484'
Object.assign(globalThis, {
  WebSocket: createProxyWebSocket({ proxyUrl, apiKey: PROXY_MANAGED }),
})

const openai = createOpenAI({ apiKey: PROXY_MANAGED })
const said = document.querySelector('p')!
const button = document.querySelector('button')!

/** Shows what the model says. */
class Conversation extends RealtimeSession {
  protected setState<K extends keyof RealtimeState>(key: K, value: RealtimeState[K]): void {
    this.state[key] = value
    const texts = this.state.messages
      .filter(({ role }) => role === 'assistant')
      .flatMap(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')))
    said.textContent = texts.join('\n')
  }
}

button.addEventListener('click', async () => {
  const conversation = new Conversation({
    model: openai.experimental_realtime('gpt-realtime'),
    api: { token: '/api/token' },
    onError: ({ message }) => (said.textContent = message),
  })
  conversation.startAudioCapture(await navigator.mediaDevices.getUserMedia({ audio: true }))
  await conversation.connect()
})
