// A secret, the only time that it is shown, perhaps with code that uses it.
import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { Secret, Snippets, type Snippet } from '../ui/bits.tsx'
import { Buttons, Fields } from '../ui/page.tsx'

interface NewSecretProps {
  text: string
  /** What is copied: "the key". */
  what: string
  snippets?: readonly Snippet[]
  onDone: () => void
  /** What to do with it now. */
  children: ReactNode
}

export function NewSecret({ text, what, snippets, onDone, children }: NewSecretProps) {
  return (
    <Fields>
      <p style={{ margin: 0 }}>{children}</p>
      <Secret text={text} what={what} />
      {snippets && <Snippets label="Use it" items={snippets} />}
      <Buttons>
        <Button onClick={onDone}>I have copied it</Button>
      </Buttons>
    </Fields>
  )
}
