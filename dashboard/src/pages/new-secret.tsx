// A secret that is shown once, with optional code that uses it.
import type { ReactNode } from 'react'
import { Secret } from '../ui/bits.tsx'

interface NewSecretProps {
  text: string
  /** What it is: "the key". */
  what: string
  /** Code that uses it. */
  code?: ReactNode
  /** What to do with it. */
  children: ReactNode
}

/** A secret that is shown once, with code that uses it. */
export function NewSecret({ text, what, code, children }: NewSecretProps) {
  return (
    <>
      <p style={{ margin: 0 }}>{children}</p>
      <Secret text={text} what={what} />
      {code}
    </>
  )
}
