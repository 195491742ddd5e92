import { useEffect } from 'react'

/**
 * While true, the browser asks before it reloads or closes the page, which would lose work in
 * progress or a secret.
 */
export function useAskBeforeLeaving(holds: boolean): void {
  useEffect(() => {
    if (!holds) return
    const ask = (event: Event): void => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [holds])
}
