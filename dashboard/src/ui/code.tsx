// Code that is loaded when it is needed, with everything that it can be meanwhile: on its way, or not to be had.
import { Component, Suspense, lazy, type ComponentType, type LazyExoticComponent, type ReactNode } from 'react'
import { send } from '../api/http.ts'
import { Failed } from './page.tsx'

/** A component whose code is loaded when it is drawn first. Where that fails because the server does not answer, the failure says so. */
export function lazily<P>(load: () => Promise<{ default: ComponentType<P> }>): LazyExoticComponent<ComponentType<P>> {
  return lazy(async () => {
    try {
      return await load()
    } catch (error) {
      await askServer()
      throw error
    }
  })
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
      <Suspense fallback={fallback}>{children}</Suspense>
    </Boundary>
  )
}

class Boundary extends Component<{ again: boolean; children: ReactNode }, { error: unknown }> {
  override state = { error: null as unknown }

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error }
  }

  /** React and browsers remember a failed import: only a page that is loaded anew tries it again. Without the server there would be nothing to load. */
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
    return <Failed error={this.state.error} retry={this.props.again ? () => void this.retry() : undefined} />
  }
}
