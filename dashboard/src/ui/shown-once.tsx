// What is shown once and never again: a key, a token, a link. It stands above the pages, so whoever
// goes back or elsewhere while it is being made, or before it is copied, has it before them all the
// same.
import { Button } from '@mantine/core'
import { createContext, use, useEffect, useState, type ReactNode } from 'react'
import { flushSync } from 'react-dom'
import { COPIED, copyText } from './bits.tsx'
import { CoveredByOverlay, Dialog } from './dialog.tsx'
import { Buttons, Fields } from './page.tsx'

interface OneTimeSecret {
  title: string
  /** What nobody can see again. */
  secret: string
  body: ReactNode
}

type ShowOnceContext = (once: OneTimeSecret) => void
const ShowOnceContext = createContext<ShowOnceContext>(() => {})

/** Gives what shows something once; it may be called when the page that asked for it is gone. */
export const useShowOnce = (): ShowOnceContext => use(ShowOnceContext)

/** Shows one-time secrets above all pages, one after the other. */
export function ShownOnce({ children }: { children: ReactNode }) {
  // Two that are made at once are shown one after the other.
  const [[shown], setWaiting] = useState<readonly (OneTimeSecret & { key: number })[]>([])
  // Before anything else happens, such as that the form which made it goes away.
  const [show] = useState((): ShowOnceContext => {
    let made = 0
    return (once) => {
      const key = made++
      flushSync(() => setWaiting((waiting) => [...waiting, { key, ...once }]))
    }
  })
  return (
    <>
      <ShowOnceContext value={show}>
        <CoveredByOverlay value={shown !== undefined}>{children}</CoveredByOverlay>
      </ShowOnceContext>
      <Dialog
        title={shown?.title ?? ''}
        opened={shown !== undefined}
        onClose={() => {}}
        buttonCloseOnly
      >
        {/* Nothing of the one before stays: not that it was copied, and not where the focus is, or nobody would hear of the next. */}
        <Fields key={shown?.key}>
          {shown?.body}
          {shown && (
            <Leave
              secret={shown.secret}
              onLeave={() => setWaiting((waiting) => waiting.slice(1))}
            />
          )}
        </Fields>
      </Dialog>
    </>
  )
}

/**
 * The way on: nobody leaves without a copy, made by this button, by the one beside the secret, or
 * by the browser.
 */
function Leave({ secret, onLeave }: { secret: string; onLeave: () => void }) {
  const [state, setState] = useState<'not copied' | 'copied' | 'failed'>('not copied')
  useEffect(() => {
    const copied = (): void => setState('copied')
    document.addEventListener('copy', copied)
    document.addEventListener(COPIED, copied)
    return () => {
      document.removeEventListener('copy', copied)
      document.removeEventListener(COPIED, copied)
    }
  }, [])
  const copy = async (): Promise<void> => {
    if ((await copyText(secret)) === 'copied') onLeave()
    else setState('failed')
  }
  return (
    <>
      {state === 'failed' && (
        <p role="alert">
          Your browser blocked copying. Select the text above, copy it, then close.
        </p>
      )}
      <Buttons>
        {state === 'not copied' ? (
          <Button onClick={() => void copy()}>Copy and close</Button>
        ) : (
          <Button onClick={onLeave}>I have copied it</Button>
        )}
      </Buttons>
    </>
  )
}
