// A secret, the only time that it is shown, perhaps with code that uses it.
import type { ReactNode } from 'react'
import { Secret, Snippets, type Snippet } from '../ui/bits.tsx'

interface NewSecretProps {
  text: string
  /** What is copied: "the key". */
  what: string
  snippets?: readonly Snippet[]
  /** What to do with it now. */
  children: ReactNode
}

export function NewSecret({ text, what, snippets, children }: NewSecretProps) {
  return (
    <>
      <p style={{ margin: 0 }}>{children}</p>
      <Secret text={text} what={what} />
      {snippets && <Snippets label="Use it" items={snippets} />}
    </>
  )
}
