// Streams a response of Gemini; with --openai, lets another provider fill in a form after that. Key
// and address come from the environment.
import { createOpenAI } from '@ai-sdk/openai'
import { createManagedFetch, PROXY_MANAGED } from '@proxy-sdk/core'
import { createProxyGenai } from '@proxy-sdk/genai'
import { generateText, Output, streamText } from 'ai'
import { z } from 'zod'

const google = createProxyGenai()
const { textStream } = streamText({
  model: google('gemini-2.5-flash'),
  prompt: 'Why is the sky blue?',
})
for await (const piece of textStream) process.stdout.write(piece)
process.stdout.write('\n')

// Any provider of the AI SDK takes the fetch; the proxy has its credential.
if (process.argv.includes('--openai')) {
  const openai = createOpenAI({ apiKey: PROXY_MANAGED, fetch: createManagedFetch() })
  const schema = z.object({ colour: z.string() })
  const { output } = await generateText({
    model: openai('gpt-5-mini'),
    output: Output.object({ schema }),
    prompt: 'What colour is the sky?',
  })
  console.log(output.colour)
}
