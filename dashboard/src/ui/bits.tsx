// Small parts: states as badges, names as pills, secrets and code with a button to copy them.
import { Button } from '@mantine/core'
import {
  Fragment,
  useEffect,
  useId,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
} from 'react'
import type { Snippet } from '../snippet-code.ts'
import css from './bits.module.css'
import { Icon } from './icons.tsx'

/** A state: its label, and whether it is good. */
export interface State {
  label: string
  tone: 'good' | 'bad' | 'warn' | 'calm'
}

/** A state as a coloured dot and a label. */
export function Badge({ label, tone }: State) {
  return <span className={`${css.badge} ${tone === 'calm' ? '' : css[tone]}`}>{label}</span>
}

/** A server's sentence with typographic quotation marks. */
export const quoted = (sentence: string): string => sentence.replaceAll(/"([^"]*)"/g, '“$1”')

/** A short list as pills, the rest as a count. */
export function Pills({
  items,
  most = 50,
}: {
  items: readonly string[]
  most?: number | undefined
}) {
  return (
    <span className={css.pills}>
      {items.slice(0, most).map((item) => (
        <span key={item} className={css.pill} title={item}>
          <Parts name={item} />
        </span>
      ))}
      {items.length > most && <span className="dimmed">+{items.length - most}</span>}
    </span>
  )
}

/** A button that copies a text and briefly confirms it. */
export function Copy({
  text,
  what,
  compact = false,
  onCopied,
}: {
  text: string
  what: string
  compact?: boolean
  onCopied?: () => void
}) {
  const [message, setSaid] = useState<'copied' | 'failed' | null>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const copy = async (): Promise<void> => {
    const message = await copyText(text)
    setSaid(message)
    if (message === 'copied') onCopied?.()
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setSaid(null), 2000)
  }
  const words = message === 'copied' ? 'Copied' : message === 'failed' ? 'Select and copy' : 'Copy'
  return (
    <Button
      variant={compact ? 'subtle' : 'default'}
      color="gray"
      size={compact ? 'compact-xs' : 'sm'}
      leftSection={<Icon name={message === 'copied' ? 'check' : 'copy'} size={compact ? 14 : 16} />}
      onClick={() => void copy()}
      aria-label={`${words} ${what}`}
    >
      <span aria-live="polite">{words}</span>
    </Button>
  )
}

/**
 * Copies a text. On plain HTTP beyond localhost there is no clipboard API, so this falls back to
 * the old command.
 */
export async function copyText(text: string): Promise<'copied' | 'failed'> {
  try {
    await navigator.clipboard.writeText(text)
    return 'copied'
  } catch {
    const area = document.createElement('textarea')
    area.value = text
    area.style.position = 'fixed'
    const host = document.querySelector('[role="dialog"]') ?? document.body
    const focused = document.activeElement
    host.append(area)
    area.select()
    const done = document.execCommand('copy')
    area.remove()
    if (focused instanceof HTMLElement) focused.focus()
    return done ? 'copied' : 'failed'
  }
}

/** The event on the document when a button has copied a secret. */
export const COPIED = 'secret-copied'

/** A secret with its copy button. */
export function Secret({ text, what }: { text: string; what: string }) {
  return (
    <div className={css.secret}>
      <code className={css.secretText} data-secret>
        {text}
      </code>
      <Copy text={text} what={what} onCopied={() => document.dispatchEvent(new Event(COPIED))} />
    </div>
  )
}

/** A block of code with a copy button. */
export function CodeBlock({ code, label }: { code: string; label: string }) {
  return (
    <div className={css.code}>
      <div className={css.codeHead}>
        <span>{label}</span>
        <Copy text={code} compact what={label} />
      </div>
      <pre tabIndex={0} aria-label={label}>
        <code>{code}</code>
      </pre>
    </div>
  )
}

/** Variants of a snippet in tabs. */
export function Snippets({ label, items }: { label: string; items: readonly Snippet[] }) {
  const [chosen, setChosen] = useState(0)
  const id = useId()
  const item = items[chosen] ?? items[0]
  if (!item) return null
  const move = (event: KeyboardEvent<HTMLElement>): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step === 0) return
    event.preventDefault()
    const next = (chosen + step + items.length) % items.length
    setChosen(next)
    event.currentTarget.querySelectorAll<HTMLElement>('[role="tab"]')[next]?.focus()
  }
  const tabs = (
    <div className={css.tabs} role="tablist" aria-label={label} onKeyDown={move}>
      {items.map(({ title }, index) => (
        <button
          key={title}
          type="button"
          role="tab"
          id={`${id}-${index}`}
          aria-selected={index === chosen}
          aria-controls={`${id}-panel`}
          tabIndex={index === chosen ? 0 : -1}
          className={css.tab}
          onClick={() => setChosen(index)}
        >
          <span className={css.scope}>{title.slice(0, title.indexOf('/') + 1)}</span>
          {title.slice(title.indexOf('/') + 1)}
        </button>
      ))}
    </div>
  )
  return (
    <div className={css.code}>
      <div className={css.codeHead}>
        {tabs}
        <Copy
          text={item.code}
          compact
          what={`${label}: ${item.title}`}
          onCopied={() => document.dispatchEvent(new Event(COPIED))}
        />
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${chosen}`}>
        <pre tabIndex={0} aria-label={`${label}: ${item.title}`}>
          <code>{item.code}</code>
        </pre>
      </div>
    </div>
  )
}

/** A name with parts (an address, a model, a path), which may wrap between them. */
export function Parts({ name }: { name: string }) {
  return name.split(/(?<=[@/:-])/).map((part, index) => (
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ))
}

/** A sentence with code in backticks. */
export function Prose({ text }: { text: string }) {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))
}

/** In place of a timestamp that does not exist. */
export function Never() {
  return <span className="dimmed">Never</span>
}

/** Names and values as a description list. */
export function Facts({ items }: { items: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className={css.facts}>
      {items.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
