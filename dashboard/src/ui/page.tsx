// The parts of every page: header, cards, and loading states.
import { Button, Skeleton } from '@mantine/core'
import { useEffect, useRef, type ReactNode } from 'react'
import { Link } from 'wouter'
import { ApiError } from '../api/http.ts'
import { clockTimeIn } from '../format.ts'
import { quoted } from './bits.tsx'
import { Icon, type IconName } from './icons.tsx'
import css from './page.module.css'

interface PageProps {
  title: string
  lead?: ReactNode
  actions?: ReactNode
  /** The link to the parent page. */
  back?: { href: string; label: string }
  children: ReactNode
}

/**
 * A page with its heading, which is also the document title and gets the focus after a navigation.
 */
export function Page({ title, lead, actions, back, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Tollmark`
  }, [title])
  useEffect(() => {
    // Tells screen readers where they are; at the first load the browser does that.
    elsewhere ||= location.pathname !== opened
    if (elsewhere) heading.current?.focus({ preventScroll: true })
    window.scrollTo(0, 0)
  }, [])
  return (
    <div className={css.page}>
      <header className={css.head}>
        <div className={css.headText}>
          {back && (
            <Link href={back.href} className={css.back}>
              <Icon name="back" size={14} />
              {back.label}
            </Link>
          )}
          <h1 className={css.title} ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead !== undefined && <p className={css.lead}>{lead}</p>}
        </div>
        {actions !== undefined && <div className={css.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  )
}

const opened = location.pathname
/** Whether the user has navigated since the page was loaded. */
let elsewhere = false

/** Marks the next page as a navigation, even if the URL stays the same. */
export function markNavigation(): void {
  elsewhere = true
}

interface CardProps {
  title?: string
  note?: ReactNode | undefined
  actions?: ReactNode
  /** Content reaches the card's edges: tables. */
  flush?: boolean
  children: ReactNode
}

/** A titled section of a page. */
export function Card({ title, note, actions, flush = false, children }: CardProps) {
  const bare = title === undefined
  return (
    <section className={css.card} aria-label={title}>
      {!bare && (
        <div className={css.cardHead}>
          <div>
            <h2 className={css.cardTitle}>{title}</h2>
            {note !== undefined && <p className={css.cardNote}>{note}</p>}
          </div>
          {actions}
        </div>
      )}
      {flush ? (
        <div className={bare ? undefined : css.cardFlush}>{children}</div>
      ) : (
        <div className={css.cardBody}>{children}</div>
      )}
    </section>
  )
}

/** An empty state: what belongs here, and what to do next. */
export function Empty({
  icon,
  title,
  children,
  action,
}: {
  icon: IconName
  title: string
  children: ReactNode
  action?: ReactNode
}) {
  return (
    <div className={css.state}>
      <span className={css.stateIcon}>
        <Icon name={icon} size={22} />
      </span>
      <p className={css.stateTitle}>{title}</p>
      <p className={css.stateText}>{children}</p>
      {action}
    </div>
  )
}

/** The empty state of a filtered list. */
export function NoMatch({ what, onClear }: { what: string; onClear: () => void }) {
  const clear = (
    <Button variant="default" onClick={onClear}>
      Clear filters
    </Button>
  )
  return (
    <Empty icon="search" title={`No matching ${what}s`} action={clear}>
      Try different filters.
    </Empty>
  )
}

/** The failed state. */
export function Failed({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  return (
    <div className={css.state} role="alert">
      <span className={`${css.stateIcon} ${css.stateBad}`}>
        <Icon name="alert" size={22} />
      </span>
      <p className={css.stateTitle}>{titleOf(error)}</p>
      <p className={css.stateText}>
        {sentenceOf(error)}
        {requestIdOf(error)}
      </p>
      {retry && !isMissing(error) && (
        <Button variant="default" onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  )
}

/**
 * Whether the server itself says that the record does not exist, so a retry would not help. A plain
 * 404 may come from a reverse proxy while the server restarts.
 */
const isMissing = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 404 && error.code.endsWith('_not_found')

function titleOf(error: unknown): string {
  if (!isMissing(error)) return 'Could not load this'
  return error instanceof ApiError && error.code === 'request_not_found'
    ? 'No such request'
    : 'Not found'
}

/** An error beside its cause, announced to screen readers. */
export function ProblemNote({ error }: { error: unknown }) {
  if (error === null || error === undefined) return null
  return (
    <div className={css.problem} role="alert">
      <Icon name="alert" size={18} />
      <span>
        {sentenceOf(error)}
        {requestIdOf(error)}
      </span>
    </div>
  )
}

/** Replaces the server's UTC time of a quota reset with one in the chosen zone. */
function resetInChosenZone({ code, message, retryAfter }: ApiError): string {
  if (code !== 'quota_exceeded' || retryAfter === null) return message
  return message.replace('00:00 UTC', clockTimeIn(retryAfter))
}

/** An error's sentence, with times in the chosen zone. */
export function sentenceOf(error: unknown): string {
  return error instanceof ApiError
    ? quoted(resetInChosenZone(error))
    : 'Something went wrong on this page. Reload it to try again.'
}

function requestIdOf(error: unknown) {
  if (!(error instanceof ApiError) || error.requestId === null || error.status < 500) return null
  return <small className={css.requestId}>Request {error.requestId}</small>
}

/** A query as `Loaded` needs it. */
export interface Loading<T> {
  data: T | undefined
  error: unknown
  refetch: () => unknown
}

/**
 * The states of a query: bars while it loads, the error with a retry, or its data, followed by the
 * error of a failed refetch.
 */
export function Loaded<T>({
  query,
  rows = 4,
  isEmpty = () => false,
  children,
}: {
  query: Loading<T>
  rows?: number
  /** Whether the data is empty; then an error replaces it. */
  isEmpty?: (data: T) => boolean
  children: (data: T) => ReactNode
}) {
  if (query.data !== undefined && (query.error === null || !isEmpty(query.data))) {
    return (
      <>
        {children(query.data)}
        {query.error !== null && (
          <div className={css.below}>
            <ProblemNote error={query.error} />
          </div>
        )}
      </>
    )
  }
  if (query.error !== null) return <Failed error={query.error} retry={() => void query.refetch()} />
  return <Skeletons rows={rows} />
}

/** Placeholders while content loads. */
export function Skeletons({ rows = 4 }: { rows?: number }) {
  return (
    <div className={css.skeletons} role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => (
        <Skeleton key={row} height={18} width={`${100 - ((row * 17) % 40)}%`} radius="sm" />
      ))}
    </div>
  )
}

/** Stacks the fields of a form. */
export const Fields = ({ children }: { children: ReactNode }) => (
  <div className={css.fields}>{children}</div>
)
/** The row of buttons at the end of a form. */
export const Buttons = ({ children }: { children: ReactNode }) => (
  <div className={css.buttons}>{children}</div>
)
/** The row of filters above a table. */
export const Filters = ({ children }: { children: ReactNode }) => (
  <div className={css.filters} role="search">
    {children}
  </div>
)
/** The style of a filter that takes the remaining width. */
export const filterGrow = css.grow
