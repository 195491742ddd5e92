// Components loaded on demand, with their loading and failed states.
import {
  Component,
  createContext,
  createElement,
  use,
  useEffect,
  useState,
  type ComponentType,
  type ReactNode,
} from 'react'
import { ping } from '../api/http.ts'
import { Failed } from './page.tsx'

/** Shown while code loads. */
export const Fallback = createContext<ReactNode>(null)

/**
 * A component whose code is loaded at its first render. If the server is down, the error says so.
 *
 * Not React's `lazy`, which shows a fallback for at least 300 ms to avoid flicker: every navigation
 * would take that long.
 */
export function lazily<P extends object>(
  load: () => Promise<{ default: ComponentType<P> }>,
): ComponentType<P> {
  let loaded: ComponentType<P> | null = null
  const fetchCode = async (): Promise<void> => {
    try {
      loaded = (await load()).default
    } catch (error) {
      await ping()
      throw error
    }
  }
  return function Lazy(props: P): ReactNode {
    const fallback = use(Fallback)
    const [ended, setEnded] = useState<{ error?: unknown } | null>(null)
    useEffect(() => {
      if (loaded !== null) return
      fetchCode().then(
        () => setEnded({}),
        (error: unknown) => setEnded({ error }),
      )
    }, [])
    if (loaded !== null) return createElement(loaded, props)
    if (ended !== null && 'error' in ended) throw ended.error
    return fallback
  }
}

interface LoadBoundaryProps {
  /** The current location; a change resets the failure. */
  at: string
  /** Shown while the code loads. */
  fallback?: ReactNode
  /** Whether to offer a retry, which reloads the page and loses its state. */
  again?: boolean
  children: ReactNode
}

/** Shows the loading and failed states of the components in it that `lazily` made. */
export function LoadBoundary({ at, fallback, again = true, children }: LoadBoundaryProps) {
  return (
    <ErrorBoundary key={at} again={again}>
      <Fallback value={fallback}>{children}</Fallback>
    </ErrorBoundary>
  )
}

class ErrorBoundary extends Component<{ again: boolean; children: ReactNode }, { error: unknown }> {
  override state = { error: null as unknown }

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error }
  }

  /**
   * React and browsers cache a failed import, so only a reload retries it. First check that the
   * server is up.
   */
  private readonly retry = async (): Promise<void> => {
    try {
      await ping()
      location.reload()
    } catch (error) {
      this.setState({ error })
    }
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children
    return (
      <Failed
        error={this.state.error}
        retry={this.props.again ? () => void this.retry() : undefined}
      />
    )
  }
}
