// The drop area with the server's limits, and the progress of an upload.
import { Button, FileButton, Progress } from '@mantine/core'
import { useEffect, useState, type DragEvent } from 'react'
import { useLimits } from '../api/convert.ts'
import { bytes, fullCount } from '../format.ts'
import { Icon } from '../ui/icons.tsx'
import { Card } from '../ui/page.tsx'
import { main } from '../ui/table.tsx'
import css from './convert.module.css'

/** Keeps the browser from opening a file that is dropped outside the area. */
export function usePreventFileNavigation(): void {
  useEffect(() => {
    const prevent = (event: globalThis.DragEvent): void => {
      if (event.defaultPrevented || !event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      event.dataTransfer.dropEffect = 'none'
    }
    window.addEventListener('dragover', prevent)
    return () => window.removeEventListener('dragover', prevent)
  }, [])
}

/** Files can hardly be dragged with a finger. */
const canDrop = matchMedia('(hover: hover)').matches

/** The area that takes exported files, by drop or by file dialog. */
export function Drop({ onFiles }: { onFiles: (files: readonly File[]) => void }) {
  const [over, setOver] = useState(false)
  const limits = useLimits().data
  const drop = (event: DragEvent): void => {
    event.preventDefault()
    setOver(false)
    const files = [...event.dataTransfer.files]
    if (files.length > 0) onFiles(files)
  }
  return (
    <div
      className={`${css.drop} ${over ? css.over : ''}`}
      data-drop
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <strong>{canDrop ? 'Drop one or more exports here' : 'Choose one or more exports'}</strong>
      <Limits limits={limits} />
      <FileButton
        multiple
        accept=".html,.htm,.zip"
        inputProps={{ 'aria-label': 'Files to convert' }}
        onChange={(files) => files.length > 0 && onFiles(files)}
      >
        {(props) => (
          <Button {...props} leftSection={<Icon name="upload" size={16} />}>
            Choose files
          </Button>
        )}
      </FileButton>
    </div>
  )
}

/** What may be uploaded. Its lines keep their place until the limits are known. */
function Limits({ limits }: { limits: ReturnType<typeof useLimits>['data'] }) {
  const hidden = limits === undefined ? css.unknown : ''
  return (
    <>
      <p className={hidden}>
        .html up to {bytes(limits?.html_bytes ?? 0)}, .zip up to {bytes(limits?.zip_bytes ?? 0)}
      </p>
      <p className={`dimmed ${hidden}`}>
        A .zip may hold {fullCount(limits?.archive_entries ?? 0)} files, with pages of up to{' '}
        {bytes(limits?.page_bytes ?? 0)} each and {bytes(limits?.pages_bytes ?? 0)} together.
        Archives inside it (“-Part-1.zip”): up to {bytes(limits?.parts_bytes ?? 0)} together.
      </p>
    </>
  )
}

/** The progress of one upload. */
export function Sending({
  name,
  size,
  part,
  onCancel,
}: {
  name: string
  size: number
  part: number
  onCancel: () => void
}) {
  const sent = part >= 1
  return (
    <Card>
      <div className={css.progress} role="status">
        <div className={css.row}>
          <strong className={main}>{name}</strong>
          <Button variant="default" size="xs" onClick={onCancel}>
            Cancel
          </Button>
        </div>
        <Progress value={Math.round(part * 100)} animated={sent} aria-label={`Upload of ${name}`} />
        <span className="dimmed num">
          {sent ? 'Converting …' : `${bytes(part * size)} of ${bytes(size)} uploaded`}
        </span>
      </div>
    </Card>
  )
}
