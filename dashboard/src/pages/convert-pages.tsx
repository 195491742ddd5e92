// A converted folder of pages, to download as an archive.
import { Button } from '@mantine/core'
import type { Certified } from '../api/convert.ts'
import { bytes } from '../format.ts'
import { Icon } from '../ui/icons.tsx'
import { Empty } from '../ui/page.tsx'
import { CertifiedLine } from './certified-line.tsx'

interface ConvertedPagesProps {
  /** The uploaded file's name. */
  name: string
  certified: Certified | null
  /** Bytes, if known. */
  size?: number
  /** Its URL on the server, or a function that downloads it from this browser. */
  from: string | (() => void)
}

/** The name of the archive. */
export const pagesName = (name: string): string =>
  `${name.replace(/(?: [0-9a-f]{32})?\.(?:zip|html?)$/i, '')}-pages.zip`

/** A folder of pages: its certificate and its download. */
export function ConvertedPages({ name, certified, size, from }: ConvertedPagesProps) {
  const file = pagesName(name)
  const icon = <Icon name="download" size={16} />
  return (
    <section aria-label={`Result: ${file}`}>
      <Empty
        icon="convert"
        title={file}
        action={
          typeof from === 'string' ? (
            <Button component="a" href={from} download={file} leftSection={icon}>
              Download
            </Button>
          ) : (
            <Button onClick={from} leftSection={icon}>
              Download
            </Button>
          )
        }
      >
        A Markdown file for each page, with its files{size === undefined ? '' : `, ${bytes(size)}`}.
        <CertifiedLine certified={certified} />
      </Empty>
    </section>
  )
}
