// Filters live in the address, so that nothing is lost on reload and a view can be sent to
// somebody.
import { useSearchParams } from 'wouter'

/**
 * The address's parameters, with these defaults; setting one to its default takes it out of the
 * address.
 */
export function useFilters<F extends Record<string, string>>(
  defaults: F,
): [F, (change: Partial<F>) => void] {
  const [params, setParams] = useSearchParams()
  const filters = Object.fromEntries(
    Object.entries(defaults).map(([name, standard]) => [name, params.get(name) ?? standard]),
  ) as F
  const change = (next: Partial<F>): void => {
    setParams(
      (before) => {
        const after = new URLSearchParams(before)
        for (const [name, value] of Object.entries(next)) {
          if (value === undefined || value === defaults[name]) after.delete(name)
          else after.set(name, value)
        }
        return after
      },
      { replace: true },
    )
  }
  return [filters, change]
}
