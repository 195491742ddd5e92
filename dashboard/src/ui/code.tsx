// Code that is loaded when it is needed, with everything that it can be meanwhile: on its way, or
// not to be had.
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
import { send } from '../api/http.ts'
import { Failed } from './page.tsx'

/** What stands in place of code that is on its way. */
export const Fallback = createContext<ReactNode>(null)

/**
 * A component whose code is loaded when it is drawn first. Where that fails because the server does
 * not answer, the failure says so.
 *
 * Not React's `lazy`: behind a fallback that has been shown it keeps back everything else for 300
 * ms, so that pages do not flicker. Each way to another page would take so long.
 */
export function lazily<P extends object>(
  load: () => Promise<{ default: ComponentType<P> }>,
): ComponentType<P> {
  let loaded: ComponentType<P> | null = null
  const fetchCode = async (): Promise<void> => {
    try {
      loaded = (await load()).default
    } catch (error) {
      await askServer()
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

/** @throws Refused where the server does not answer */
const askServer = (): Promise<unknown> => send('/livez')

interface CodeProps {
  /** Where this is: what failed elsewhere is forgotten. */
  at: string
  /** What stands here while the code is on its way. */
  fallback?: ReactNode
  /** Left out where what else is on the page would be lost. */
  again?: boolean
  children: ReactNode
}

/** What stands around such components. */
export function Code({ at, fallback, again = true, children }: CodeProps) {
  return (
    <Boundary key={at} again={again}>
      <Fallback value={fallback}>{children}</Fallback>
    </Boundary>
  )
}

class Boundary extends Component<{ again: boolean; children: ReactNode }, { error: unknown }> {
  override state = { error: null as unknown }

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error }
  }

  /**
   * React and browsers remember a failed import: only a page that is loaded anew tries it again.
   * Without the server there would be nothing to load.
   */
  private readonly retry = async (): Promise<void> => {
    try {
      await askServer()
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
