// Shows secrets that are shown only once: a key, a token, a link. Lives above the pages, so that
// navigating while it is created, or before it is copied, does not lose it.
import { Button } from '@mantine/core'
import { createContext, use, useEffect, useState, type ReactNode } from 'react'
import { flushSync } from 'react-dom'
import { COPIED, copyText } from './bits.tsx'
import { CoveredByOverlay, Dialog } from './dialog.tsx'
import { Buttons, Fields } from './page.tsx'

interface OneTimeSecret {
  title: string
  /** The secret itself. */
  secret: string
  body: ReactNode
}

type ShowOnceContext = (once: OneTimeSecret) => void
const ShowOnceContext = createContext<ShowOnceContext>(() => {})

/** Returns the function that shows a secret; it works even after its page is gone. */
export const useShowOnce = (): ShowOnceContext => use(ShowOnceContext)

/** Shows one-time secrets above all pages, one after the other. */
export function ShownOnce({ children }: { children: ReactNode }) {
  // Several secrets are shown one after the other.
  const [[shown], setWaiting] = useState<readonly (OneTimeSecret & { key: number })[]>([])
  // Synchronous, so that it is shown before its form is unmounted.
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
        {/* Remount for each secret, which resets the copied state and moves the focus, so that screen readers announce the next one. */}
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
 * The button that closes it, only after the secret was copied by this button, the one beside it, or
 * the browser.
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
