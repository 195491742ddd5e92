// Keeps filters in the URL, so that a reload keeps them and a view can be shared.
import { useSearchParams } from 'wouter'

/**
 * The query parameters of the URL, with defaults. Setting one to its default removes it from the
 * URL.
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
