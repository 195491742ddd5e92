import { useEffect } from 'react'

/**
 * While this holds, the browser asks before it reloads or closes the page: what is under way, or
 * shown once, would be lost.
 */
export function useAskBeforeLeaving(holds: boolean): void {
  useEffect(() => {
    if (!holds) return
    const ask = (event: Event): void => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [holds])
}
