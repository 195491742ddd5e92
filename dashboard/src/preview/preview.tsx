// Markdown as a person will read it. Nothing in it is ever HTML to the browser: the text becomes a
// tree, and the tree becomes elements.
import { createElement, isValidElement, useState, type ComponentProps, type ReactNode } from 'react'
import Slugger from 'github-slugger'
import Markdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import remarkMath from 'remark-math'
import { Fallback, lazily } from '../ui/code.tsx'
import { Icon } from '../ui/icons.tsx'
import { headingLevels } from './heading-levels.ts'
import { knownHtml } from './known-html.ts'
import css from './preview.module.css'

const Tex = lazily(() => import('./tex.tsx'))

/** Anchors of the document stay apart from the page's own ids. */
const PREFIX = 'doc-'

/** Renders Markdown as React elements, never as HTML. */
export default function Preview({ markdown }: { markdown: string }) {
  // Names of headings begin anew with each document.
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

/** Headings with the anchors that the document's own links go to. */
function headingsOf(slugger: Slugger): Components {
  // A heading is drawn twice in strict development, and must keep its name.
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
      // A link to it brings the focus along.
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

/** TABLE of elements that are drawn in another way than their tag says. */
const ELEMENTS: Components = {
  a: ({ href = '', children }) =>
    href.startsWith('#') ? (
      <a href={`#${PREFIX}${href.slice(1)}`}>{children}</a>
    ) : /^(?:https?|mailto):/.test(href) ? (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    ) : (
      // A file of the archive, which is not here.
      <span>{children}</span>
    ),
  // A picture is never fetched: one of the archive is not here, and one elsewhere would learn who
  // reads this.
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
  // A table of Notion may have no headings; GFM wants a row for them.
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
