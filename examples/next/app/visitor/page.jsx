'use client'

import { createRenewedKey } from '@proxy-sdk/core'
import { createProxyGenai } from '@proxy-sdk/genai'
import { streamText } from 'ai'
import { useState } from 'react'

// A third way: each visitor gets a key that lives for ten minutes, and asks the proxy with it.
const google = createProxyGenai({
  apiKey: createRenewedKey(async () => (await fetch('/api/ai-key', { method: 'POST' })).json()),
})

export default function Page() {
  const [text, setText] = useState('')

  async function ask() {
    setText('')
    const { textStream } = streamText({
      model: google('gemini-2.5-flash'),
      prompt: 'Why is the sky blue?',
    })
    for await (const piece of textStream) setText((before) => before + piece)
  }

  return (
    <main>
      <button onClick={ask}>Why is the sky blue?</button>
      <p aria-live="polite">{text}</p>
    </main>
  )
}
