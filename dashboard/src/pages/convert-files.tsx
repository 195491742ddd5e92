// Lists of the convert page: the files dropped together, and the documents saved in this browser.
import { Button } from '@mantine/core'
import type { SavedDocument } from '../api/saved-documents.ts'
import { ago, bytes, counted, share } from '../format.ts'
import { Badge, type State } from '../ui/bits.tsx'
import { Card, sentenceOf } from '../ui/page.tsx'
import { main } from '../ui/table.tsx'
import css from './convert.module.css'
import type { Task } from './converting.tsx'

/** TABLE of the states of a file. */
const TASK: Readonly<Record<Task['state'], State>> = {
  waiting: { label: 'Waiting', tone: 'calm' },
  sending: { label: 'Converting', tone: 'warn' },
  done: { label: 'Done', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
  canceled: { label: 'Canceled', tone: 'calm' },
}

interface FilesProps {
  tasks: readonly Task[]
  part: number
  onCancel: (id: string) => void
  onShow: (doc: string, job: string) => void
}

/** Several files, converted one after the other. */
export function Files({ tasks, part, onCancel, onShow }: FilesProps) {
  const over = tasks.filter(
    ({ state }) => state === 'done' || state === 'failed' || state === 'canceled',
  ).length
  return (
    <Card title="Files" note={`${over} of ${counted(tasks.length, 'file')} finished`} flush>
      <ul className={css.files}>
        {tasks.map(({ id, file, state, error, made }) => (
          <li key={id}>
            <span className={main}>{file.name}</span>
            <span className="dimmed num">{bytes(file.size)}</span>
            <Badge
              {...TASK[state]}
              label={
                state === 'sending' && part < 1 ? `Uploading, ${share(part)}` : TASK[state].label
              }
            />
            {state === 'failed' && <span className={css.why}>{sentenceOf(error)}</span>}
            {made !== null && (
              <Button
                variant="subtle"
                size="compact-sm"
                onClick={() =>
                  made.kind === 'job' ? onShow('', made.job.id) : onShow(made.id, '')
                }
                aria-label={`Show ${file.name}`}
              >
                Show
              </Button>
            )}
            {(state === 'waiting' || state === 'sending') && (
              <Button
                variant="subtle"
                color="gray"
                size="compact-sm"
                onClick={() => onCancel(id)}
                aria-label={`Cancel ${file.name}`}
              >
                Cancel
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Card>
  )
}

interface SavedDocumentsProps {
  documents: readonly SavedDocument[]
  shown: string | undefined
  onShow: (id: string) => void
  onDrop: (id: string) => void
}

/** The documents saved in this browser. */
export function SavedDocuments({ documents, shown, onShow, onDrop }: SavedDocumentsProps) {
  return (
    <Card title="Documents" note="Kept in this browser until you sign out." flush>
      <ul className={css.files} aria-label="Documents">
        {documents.map(({ id, name, text, at, layout, archive }) => (
          <li key={id}>
            <span className={main}>{name}</span>
            <span className="dimmed num">
              {layout === 'pages'
                ? `folder, ${bytes(archive?.size ?? 0)}`
                : counted(text.length, 'character')}
            </span>
            <span className="dimmed">{ago(at)}</span>
            <Button
              variant="subtle"
              size="compact-sm"
              disabled={id === shown}
              onClick={() => onShow(id)}
              aria-label={`Show ${name}`}
            >
              Show
            </Button>
            <Button
              variant="subtle"
              color="gray"
              size="compact-sm"
              onClick={() => onDrop(id)}
              aria-label={`Remove ${name}`}
            >
              Remove
            </Button>
          </li>
        ))}
      </ul>
    </Card>
  )
}
