// Renders Markdown. Nothing in it reaches the browser as HTML: the text becomes a tree, and the
// tree becomes elements.
import { createElement, isValidElement, useState, type ComponentProps, type ReactNode } from 'react'
import Slugger from 'github-slugger'
import Markdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import remarkMath from 'remark-math'
import { Fallback, lazily } from '../ui/lazily.tsx'
import { Icon } from '../ui/icons.tsx'
import { headingLevels } from './heading-levels.ts'
import { knownHtml } from './known-html.ts'
import css from './preview.module.css'

const Tex = lazily(() => import('./tex.tsx'))

/** Keeps the document's anchors apart from the page's ids. */
const PREFIX = 'doc-'

/** Renders Markdown as React elements, never as HTML. */
export default function Preview({ markdown }: { markdown: string }) {
  // Heading anchors start fresh with each document.
  return (
    <div className={css.doc}>
      <Drawn key={markdown} markdown={markdown} />
    </div>
  )
}

function Drawn({ markdown }: { markdown: string }) {
  const [components] = useState(() => ({ ...headingsOf(new Slugger()), ...ELEMENTS }))
  return (
    <Markdown
      remarkPlugins={[remarkGfm, [remarkMath, { singleDollarTextMath: true }], knownHtml]}
      rehypePlugins={[headingLevels]}
      components={components}
    >
      {markdown}
    </Markdown>
  )
}

/** Headings with the anchors that the document's links point to. */
function headingsOf(slugger: Slugger): Components {
  // React's strict mode renders a heading twice; it must keep its anchor.
  const known = new Map<number, string>()
  const heading = (level: 1 | 2 | 3 | 4 | 5 | 6) =>
    function Heading({
      node,
      children,
      ...rest
    }: ComponentProps<'h1'> & {
      node?: { position?: { start: { offset?: number | undefined } } | undefined } | undefined
    }) {
      const at = node?.position?.start.offset ?? -1
      const slug = known.get(at) ?? slugger.slug(textOf(children))
      if (at >= 0) known.set(at, slug)
      // Makes the heading focusable, so that a link to it moves the focus.
      return createElement(`h${level}`, { ...rest, id: PREFIX + slug, tabIndex: -1 }, children)
    }
  return {
    h1: heading(1),
    h2: heading(2),
    h3: heading(3),
    h4: heading(4),
    h5: heading(5),
    h6: heading(6),
  }
}

/** TABLE of elements rendered differently from their tag. */
const ELEMENTS: Components = {
  a: ({ href = '', children }) =>
    href.startsWith('#') ? (
      <a href={`#${PREFIX}${href.slice(1)}`}>{children}</a>
    ) : /^(?:https?|mailto):/.test(href) ? (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    ) : (
      // A file of the archive, which the page does not have.
      <span>{children}</span>
    ),
  // Pictures are never loaded: those of the archive are not here, and external ones would track the
  // reader.
  img: ({ alt, src }) => (
    <span className={css.picture}>
      <Icon name="convert" size={14} />
      {alt || fileOf(typeof src === 'string' ? src : '')}
    </span>
  ),
  table: ({ node, ...rest }) => (
    <div className={css.table} tabIndex={0} role="region" aria-label="Table">
      <table {...rest} />
    </div>
  ),
  // A Notion table may have no header, but GFM needs a header row.
  th: ({ node, children, ...rest }) =>
    textOf(children) === '' ? <td {...rest}>{children}</td> : <th {...rest}>{children}</th>,
  pre: ({ node, children, ...rest }) => {
    const math =
      isValidElement<{ className?: string }>(children) &&
      (children.props.className ?? '').includes('math-display')
    return math ? (
      <>{children}</>
    ) : (
      <pre tabIndex={0} {...rest}>
        {children}
      </pre>
    )
  },
  code: ({ node, className = '', children, ...rest }) =>
    className.includes('language-math') ? (
      <span className={className.includes('math-display') ? css.display : undefined}>
        <Fallback value={<code>{children}</code>}>
          <Tex tex={textOf(children).trim()} display={className.includes('math-display')} />
        </Fallback>
      </span>
    ) : (
      <code className={className} {...rest}>
        {children}
      </code>
    ),
  input: ({ node, ...rest }) => <input {...rest} aria-label={rest.checked ? 'Done' : 'To do'} />,
}

function textOf(node: ReactNode): string {
  if (typeof node === 'string' || typeof node === 'number') return String(node)
  if (Array.isArray(node)) return node.map(textOf).join('')
  return isValidElement<{ children?: ReactNode }>(node) ? textOf(node.props.children) : ''
}

function fileOf(path: string): string {
  const name = path.split('/').at(-1) ?? path
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
