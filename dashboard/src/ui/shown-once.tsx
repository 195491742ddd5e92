// What is shown once and never again: a key, a token, a link. It stands above the pages, so whoever goes back or elsewhere while it is being made, or
// before it is copied, has it before them all the same.
import { Button } from '@mantine/core'
import { createContext, use, useState, type ReactNode } from 'react'
import { flushSync } from 'react-dom'
import { Above, Dialog } from './dialog.tsx'
import { Buttons, Fields } from './page.tsx'

type Show = (title: string, body: ReactNode) => void
const Show = createContext<Show>(() => {})

/** Gives what shows something once; it may be called when the page that asked for it is gone. */
export const useShowOnce = (): Show => use(Show)

export function ShownOnce({ children }: { children: ReactNode }) {
  // Two that are made at once are shown one after the other.
  const [[shown], setWaiting] = useState<readonly { key: number; title: string; body: ReactNode }[]>([])
  // Before anything else happens, such as that the form which made it goes away.
  const [show] = useState((): Show => {
    let made = 0
    return (title, body) => {
      const key = made++
      flushSync(() => setWaiting((waiting) => [...waiting, { key, title, body }]))
    }
  })
  return (
    <>
      <Show value={show}>
        <Above value={shown !== undefined}>{children}</Above>
      </Show>
      <Dialog title={shown?.title ?? ''} opened={shown !== undefined} onClose={() => {}} firm>
        {/* Nothing of the one before stays: not that it was copied, and not where the focus is, or nobody would hear of the next. */}
        <Fields key={shown?.key}>
          {shown?.body}
          <Buttons>
            <Button onClick={() => setWaiting((waiting) => waiting.slice(1))}>I have copied it</Button>
          </Buttons>
        </Fields>
      </Dialog>
    </>
  )
}
