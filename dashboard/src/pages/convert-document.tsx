// A converted document: the Markdown, and beside it what it looks like.
import { Button } from '@mantine/core'
import { useMemo, useState } from 'react'
import { Copy } from '../ui/bits.tsx'
import { Code, lazily } from '../ui/code.tsx'
import { Icon } from '../ui/icons.tsx'
import { Bars } from '../ui/page.tsx'
import { Segments } from '../ui/segments.tsx'
import css from './convert.module.css'

const Preview = lazily(() => import('../preview/preview.tsx'))

/** Characters that are drawn. A whole book would keep the browser busy for minutes; copying and downloading have all of it. */
const MOST_DRAWN = 200_000

interface DocumentProps {
  /** The uploaded file's name. */
  name: string
  format: 'markdown' | 'json'
  text: string
  /** Where the server has it; else it is here only. */
  href?: string
}

export function ConvertedDocument({ name, format, text, href }: DocumentProps) {
  const [shown, setShown] = useState<'preview' | 'source'>('preview')
  const markdown = useMemo(() => (format === 'json' ? markdownOf(text) : withoutFrontMatter(text)), [format, text])
  // Without the ending, and without the id that Notion puts behind a title.
  const file = `${name.replace(/(?: [0-9a-f]{32})?\.(?:zip|html?)$/i, '')}.${format === 'json' ? 'json' : 'md'}`
  const source = format === 'json' ? 'JSON' : 'Markdown'
  return (
    <section aria-label={`Result: ${file}`}>
      <div className={css.head}>
        <h2 className={css.name}>{file}</h2>
        <div className={css.narrowOnly}>
          <Segments
            label="Show"
            value={shown}
            items={[
              { value: 'preview', label: 'Preview' },
              { value: 'source', label: source },
            ]}
            onChange={setShown}
          />
        </div>
        <Copy text={text} what={`the ${source}`} />
        <Button leftSection={<Icon name="download" size={16} />} onClick={() => void download(file, text, href)}>
          Download
        </Button>
      </div>
      <div className={css.panes}>
        <div className={css.pane} data-hidden={shown === 'source' ? undefined : ''} tabIndex={0} role="region" aria-label={source}>
          <pre className={css.source}>{text.slice(0, MOST_DRAWN)}</pre>
        </div>
        <div className={css.pane} data-hidden={shown === 'preview' ? undefined : ''} tabIndex={0} role="region" aria-label="Preview">
          <Code at={file} fallback={<Bars rows={8} />} again={false}>
            <Preview markdown={firstPart(markdown)} />
          </Code>
        </div>
      </div>
      {text.length > MOST_DRAWN && <p className={css.note}>The beginning is shown. Copy and Download have the whole document.</p>}
    </section>
  )
}

/** The beginning, up to a blank line. */
function firstPart(markdown: string): string {
  if (markdown.length <= MOST_DRAWN) return markdown
  const end = markdown.lastIndexOf('\n\n', MOST_DRAWN)
  return markdown.slice(0, end > 0 ? end : MOST_DRAWN)
}

function withoutFrontMatter(text: string): string {
  return text.replace(/^---\n[\s\S]*?\n---\n/, '')
}

/** The `markdown` of a JSON document. */
function markdownOf(text: string): string {
  const value: unknown = JSON.parse(text)
  return typeof value === 'object' && value !== null && 'markdown' in value && typeof value.markdown === 'string' ? value.markdown : ''
}

async function download(file: string, text: string, href: string | undefined): Promise<void> {
  const link = document.createElement('a')
  const local = href === undefined ? URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' })) : null
  link.href = local ?? href ?? ''
  link.download = file
  link.click()
  if (local !== null) setTimeout(() => URL.revokeObjectURL(local), 10_000)
}
