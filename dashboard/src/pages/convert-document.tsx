// A converted document: its Markdown beside a preview.
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { countAssets, withAssets } from '../archive.ts'
import type { Certified } from '../api/convert.ts'
import { counted } from '../format.ts'
import { Copy } from '../ui/bits.tsx'
import { LoadBoundary, lazily } from '../ui/lazily.tsx'
import { Icon } from '../ui/icons.tsx'
import { Skeletons } from '../ui/page.tsx'
import { Segments } from '../ui/segments.tsx'
import { CertifiedLine } from './certified-line.tsx'
import css from './convert.module.css'

const Preview = lazily(() => import('../preview/preview.tsx'))

/**
 * Characters in the preview. A whole book would keep the browser busy for minutes; copying and
 * downloading include all of it.
 */
const MAX_RENDERED_CHARS = 200_000

/** TABLE of the documents' file extensions. */
export const ENDINGS = { markdown: 'md', json: 'json', chunks: 'jsonl' } as const

/** TABLE of functions that extract a document's Markdown. */
const READ = {
  markdown: withoutFrontMatter,
  json: extractMarkdown,
  chunks: (text: string) => text.split('\n').filter(Boolean).map(extractMarkdown).join('\n\n'),
} as const satisfies Record<keyof typeof ENDINGS, (text: string) => string>

/** The name of a document, without the extension and the id that Notion appends. */
const documentName = (name: string, format: keyof typeof ENDINGS): string =>
  `${name.replace(/(?: [0-9a-f]{32})?\.(?:zip|html?)$/i, '')}.${ENDINGS[format]}`

interface DocumentProps {
  /** The uploaded file's name. */
  name: string
  format: keyof typeof ENDINGS
  text: string
  /** Its URL on the server; undefined if only this browser has it. */
  href?: string
  /** Its source archive, if this browser still has it. */
  archive?: Blob | null
  certified?: Certified | null | undefined
}

/** A converted document: its preview, its source and its downloads. */
export function ConvertedDocument({
  name,
  format,
  text,
  href,
  archive = null,
  certified,
}: DocumentProps) {
  const [shown, setShown] = useState<'preview' | 'source'>('preview')
  const markdown = useMemo(() => READ[format](text), [format, text])
  const file = documentName(name, format)
  const source = format === 'markdown' ? 'Markdown' : 'JSON'
  return (
    <section aria-label={`Result: ${file}`}>
      <div className={css.head}>
        <h2 className={css.name}>
          {file}
          <CertifiedLine certified={certified} />
        </h2>
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
        <Downloads archive={archive} file={file} text={text} href={href} source={source} />
      </div>
      <div className={css.panes}>
        <div
          className={css.pane}
          data-hidden={shown === 'source' ? undefined : ''}
          tabIndex={0}
          role="region"
          aria-label={source}
        >
          <pre className={css.source}>{text.slice(0, MAX_RENDERED_CHARS)}</pre>
        </div>
        <div
          className={css.pane}
          data-hidden={shown === 'preview' ? undefined : ''}
          tabIndex={0}
          role="region"
          aria-label="Preview"
        >
          <LoadBoundary at={file} fallback={<Skeletons rows={8} />} again={false}>
            <Preview markdown={firstCharacters(markdown)} />
          </LoadBoundary>
        </div>
      </div>
      {text.length > MAX_RENDERED_CHARS && (
        <p className={css.note}>
          Only the beginning is shown. Copy and Download give you the whole document.
        </p>
      )}
    </section>
  )
}

interface DownloadsProps {
  archive: Blob | null
  file: string
  text: string
  href: string | undefined
  /** The name of its format, for the button that downloads it alone. */
  source: string
}

/** Downloads of the document, with its pictures (if any) and without. */
function Downloads({ archive, file, text, href, source }: DownloadsProps) {
  const assets = useQuery({
    queryKey: ['assets', file, archive?.size ?? 0],
    queryFn: () => (archive === null ? 0 : countAssets(archive).catch(() => 0)),
    staleTime: Infinity,
  })
  const alone = !assets.data
  const save = useMutation({
    mutationFn: async (archive: Blob) =>
      downloadBlob(file.replace(/\.\w+$/, '.zip'), await withAssets(archive, file, text)),
  })
  return (
    <>
      <Button
        variant={alone ? 'filled' : 'default'}
        leftSection={<Icon name="download" size={16} />}
        onClick={() => download(file, text, href)}
      >
        {alone ? 'Download' : `${source} only`}
      </Button>
      {archive !== null && assets.data !== undefined && assets.data > 0 && (
        <Button
          leftSection={<Icon name="download" size={16} />}
          onClick={() => save.mutate(archive)}
        >
          Download with {counted(assets.data, 'file')} (.zip)
        </Button>
      )}
      {save.isError && save.variables === archive && (
        <span className={css.why} role="alert">
          The archive's files could not be read. Convert it again to download them.
        </span>
      )}
    </>
  )
}

/** The beginning, up to a blank line. */
function firstCharacters(markdown: string): string {
  if (markdown.length <= MAX_RENDERED_CHARS) return markdown
  const end = markdown.lastIndexOf('\n\n', MAX_RENDERED_CHARS)
  return markdown.slice(0, end > 0 ? end : MAX_RENDERED_CHARS)
}

function withoutFrontMatter(text: string): string {
  return text.replace(/^---\n[\s\S]*?\n---\n/, '')
}

/** The `markdown` of a JSON document. */
function extractMarkdown(text: string): string {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null) return ''
  const markdown = 'markdown' in value ? value.markdown : 'text' in value ? value.text : ''
  return typeof markdown === 'string' ? markdown : ''
}

function download(file: string, text: string, href: string | undefined): void {
  if (href === undefined) downloadBlob(file, new Blob([text], { type: 'application/octet-stream' }))
  else followLink(file, href)
}

/** Downloads a blob as a file. */
export function downloadBlob(file: string, content: Blob): void {
  const local = URL.createObjectURL(content)
  followLink(file, local)
  setTimeout(() => URL.revokeObjectURL(local), 10_000)
}

function followLink(file: string, href: string): void {
  const link = document.createElement('a')
  link.href = href
  link.download = file
  link.click()
}
