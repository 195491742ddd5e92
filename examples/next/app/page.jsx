'use client'

import { createProxyGenai } from '@proxy-sdk/genai'
import { streamText } from 'ai'
import { useState } from 'react'

// NEXT_PUBLIC_AI_PROXY_KEY and NEXT_PUBLIC_AI_PROXY_URL were put into this page when it was built.
const google = createProxyGenai()

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
