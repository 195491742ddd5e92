import { Button, FileButton, Progress, Switch } from '@mantine/core'
import { useEffect, useState, type DragEvent } from 'react'
import { Link, useSearchParams } from 'wouter'
import { useFilters } from '../address.ts'
import { isUnderWay, resultUrl, useDeleteJob, useJob, useJobs, useLimits, useResult } from '../api/convert.ts'
import { Refused, address } from '../api/http.ts'
import { useKept, type Kept } from '../api/kept.ts'
import { useAccount } from '../api/session.ts'
import type { Job } from '../api/shapes.ts'
import { UNKNOWN, ago, bytes, count, counted, dateTime, share, span, usedOf } from '../format.ts'
import { Badge, type State } from '../ui/bits.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Icon } from '../ui/icons.tsx'
import { Bars, Card, Empty, Failed, Loaded, Page, ProblemNote } from '../ui/page.tsx'
import { Segments } from '../ui/segments.tsx'
import { PagedTable, main, sub, type Column } from '../ui/table.tsx'
import { ConvertedDocument } from './convert-document.tsx'
import { archiveOf, useConversions, type Task } from './converting.tsx'
import css from './convert.module.css'

export default function ConvertPage() {
  const [filters, change] = useFilters({ format: 'markdown', metadata: '', job: '', doc: '' })
  const { tasks, part, start, cancel } = useConversions()
  const kept = useKept(useAccount().id)
  useFilesStay()
  const format = filters.format === 'json' ? 'json' : 'markdown'
  const wishes = { format, include_metadata: filters.metadata !== '' } as const
  const take = (files: readonly File[]): void => {
    change({ job: '', doc: '' })
    start(files, wishes)
  }
  // What came of the newest file is shown, until something else is chosen.
  const made = tasks.findLast(({ made }) => made !== null)?.made ?? null
  const [shownFor, setShownFor] = useState(made)
  if (made !== shownFor) {
    setShownFor(made)
    if (made !== null && (filters.job !== '' || made.kind === 'job')) change({ job: made.kind === 'job' ? made.job.id : '', doc: '' })
  }
  const wanted = filters.doc === '' ? (made?.kind === 'document' ? made.id : undefined) : filters.doc
  const shown = kept.documents?.find(({ id }) => id === wanted) ?? (wanted === undefined ? kept.documents?.[0] : undefined)
  const [only] = tasks
  return (
    <Page title="Convert" lead="In Notion, choose ⋯ → Export → HTML. The page or the ZIP that you get becomes one Markdown document.">
      <div className={css.options}>
        <Segments
          label="Format"
          value={format}
          items={[
            { value: 'markdown', label: 'Markdown' },
            { value: 'json', label: 'JSON' },
          ]}
          onChange={(format) => change({ format })}
        />
        <Switch label="Include metadata" checked={wishes.include_metadata} onChange={(event) => change({ metadata: event.currentTarget.checked ? '1' : '' })} />
        <Quota />
      </div>
      {/* One place, which stays while what is in it changes. */}
      <section aria-label="Upload">
        {tasks.length === 1 && only?.state === 'sending' ? <Sending name={only.file.name} size={only.file.size} part={part} onCancel={() => cancel(only.id)} /> : <Drop onFiles={take} />}
      </section>
      {tasks.length === 1 && only && <Refusal error={only.state === 'failed' ? only.error : null} />}
      {tasks.length > 1 && <Files tasks={tasks} part={part} onCancel={cancel} onShow={(doc, job) => change({ doc, job })} />}
      {filters.job === '' && shown !== undefined && (
        <Card flush>
          <ConvertedDocument key={shown.id} {...shown} />
        </Card>
      )}
      {filters.job !== '' && <JobView key={filters.job} id={filters.job} />}
      {(kept.documents?.length ?? 0) > 1 && <KeptDocuments documents={kept.documents ?? []} shown={filters.job === '' ? shown?.id : undefined} onShow={(doc) => change({ doc, job: '' })} onDrop={(id) => void kept.drop(id)} />}
      <Jobs />
    </Page>
  )
}

/** A refusal, with what an administrator can do about it. */
function Refusal({ error }: { error: unknown }) {
  const { role } = useAccount()
  const limited = error instanceof Refused && error.code === 'quota_exceeded' && role === 'admin'
  return (
    <>
      <ProblemNote error={error} />
      {limited && (
        <p className="dimmed">
          You administer this server: define a larger plan with the setting <code>TOLLMARK_PLANS</code>, for example <code>{'{"unlimited":{"conversions_per_day":null}}'}</code>, and choose it for your account under{' '}
          <Link href="/accounts">Accounts</Link>.
        </p>
      )}
    </>
  )
}

/** TABLE of what a file of several can be. */
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

/** Several files, which are converted one after the other. */
function Files({ tasks, part, onCancel, onShow }: FilesProps) {
  const over = tasks.filter(({ state }) => state === 'done' || state === 'failed' || state === 'canceled').length
  return (
    <Card title="Files" note={`${over} of ${counted(tasks.length, 'file')} finished`} flush>
      <ul className={css.files}>
        {tasks.map(({ id, file, state, error, made }) => (
          <li key={id}>
            <span className={main}>{file.name}</span>
            <span className="dimmed num">{bytes(file.size)}</span>
            <Badge {...TASK[state]} label={state === 'sending' && part < 1 ? `Uploading, ${share(part)}` : TASK[state].label} />
            {error !== null && <span className={css.why}>{error instanceof Refused ? error.message : null}</span>}
            {made !== null && (
              <Button variant="subtle" size="compact-sm" onClick={() => (made.kind === 'job' ? onShow('', made.job.id) : onShow(made.id, ''))} aria-label={`Show ${file.name}`}>
                Show
              </Button>
            )}
            {(state === 'waiting' || state === 'sending') && (
              <Button variant="subtle" color="gray" size="compact-sm" onClick={() => onCancel(id)} aria-label={`Cancel ${file.name}`}>
                Cancel
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Card>
  )
}

interface KeptProps {
  documents: readonly Kept[]
  shown: string | undefined
  onShow: (id: string) => void
  onDrop: (id: string) => void
}

function KeptDocuments({ documents, shown, onShow, onDrop }: KeptProps) {
  return (
    <Card title="Documents" note="Kept in this browser until you sign out." flush>
      <ul className={css.files} aria-label="Documents">
        {documents.map(({ id, name, text, at }) => (
          <li key={id}>
            <span className={main}>{name}</span>
            <span className="dimmed num">{counted(text.length, 'character')}</span>
            <span className="dimmed">{ago(at)}</span>
            <Button variant="subtle" size="compact-sm" disabled={id === shown} onClick={() => onShow(id)} aria-label={`Show ${name}`}>
              Show
            </Button>
            <Button variant="subtle" color="gray" size="compact-sm" onClick={() => onDrop(id)} aria-label={`Remove ${name}`}>
              Remove
            </Button>
          </li>
        ))}
      </ul>
    </Card>
  )
}

/** The browser would open a file that is dropped beside the box in this page's place. */
function useFilesStay(): void {
  useEffect(() => {
    const refuse = (event: globalThis.DragEvent): void => {
      if (event.defaultPrevented || !event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      event.dataTransfer.dropEffect = 'none'
    }
    window.addEventListener('dragover', refuse)
    return () => window.removeEventListener('dragover', refuse)
  }, [])
}

function Quota() {
  const { quota } = useAccount()
  if (quota.conversions_per_day === null) return null
  return <span className={css.quota}>{usedOf(quota)} conversions used today</span>
}

/** TABLE of what can be dropped, until the server has told its limits. */
const LIMITS = { html_bytes: null, zip_bytes: null, archive_entries: null, pages_bytes: null } as const

function Drop({ onFiles }: { onFiles: (files: readonly File[]) => void }) {
  const [over, setOver] = useState(false)
  const limits = useLimits().data ?? LIMITS
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
      <strong>Drop one or more exports here</strong>
      <p>
        .html up to {bytes(limits.html_bytes)}, .zip up to {bytes(limits.zip_bytes)}
      </p>
      <p className="dimmed">
        A .zip may hold up to {count(limits.archive_entries)} files and {bytes(limits.pages_bytes)} of pages
      </p>
      <FileButton multiple accept=".html,.htm,.zip" inputProps={{ 'aria-label': 'Files to convert' }} onChange={(files) => files.length > 0 && onFiles(files)}>
        {(props) => (
          <Button {...props} leftSection={<Icon name="upload" size={16} />}>
            Choose files
          </Button>
        )}
      </FileButton>
    </div>
  )
}

function Sending({ name, size, part, onCancel }: { name: string; size: number; part: number; onCancel: () => void }) {
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
        <span className="dimmed num">{sent ? 'Converting …' : `${bytes(part * size)} of ${bytes(size)} uploaded`}</span>
      </div>
    </Card>
  )
}

/** TABLE of what a job can be. */
const STATUS: Readonly<Record<Job['status'], State>> = {
  queued: { label: 'Waiting', tone: 'calm' },
  running: { label: 'Running', tone: 'warn' },
  succeeded: { label: 'Done', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
  canceled: { label: 'Canceled', tone: 'calm' },
  expired: { label: 'Expired', tone: 'calm' },
}

function JobView({ id }: { id: string }) {
  const job = useJob(id)
  return (
    <Card flush>
      <Loaded query={job}>{(job) => (isUnderWay(job) ? <Running job={job} /> : <Finished job={job} />)}</Loaded>
    </Card>
  )
}

function Running({ job }: { job: Job }) {
  const remove = useDeleteJob()
  const { pages_done, pages_total } = job.progress
  return (
    <div className={css.progress} style={{ padding: 20 }} role="status">
      <div className={css.row}>
        <strong className={main}>{job.file.name}</strong>
        <Button variant="default" size="xs" loading={remove.isPending} onClick={() => remove.mutate(job.id)}>
          Cancel
        </Button>
      </div>
      <Progress value={pages_total === null || pages_total === 0 ? 100 : Math.round((pages_done / pages_total) * 100)} animated={pages_total === null} aria-label={`Conversion of ${job.file.name}`} />
      <span className="dimmed num">{pages_total === null ? `${STATUS[job.status].label} …` : `${count(pages_done)} of ${count(pages_total)} pages`}</span>
      <ProblemNote error={remove.error} />
    </div>
  )
}

function Finished({ job }: { job: Job }) {
  const result = useResult(job)
  if (job.status !== 'succeeded') {
    return (
      <Empty icon="alert" title={`${job.file.name}: ${STATUS[job.status].label.toLowerCase()}`}>
        {job.error?.detail ?? (job.status === 'expired' ? 'Its result is no longer kept. Upload the file again.' : 'It has no result.')}
      </Empty>
    )
  }
  if (result.error !== null) return <Failed error={result.error} retry={() => void result.refetch()} />
  if (result.data === undefined) return <Bars rows={8} />
  if (result.data === null) {
    return (
      <Empty
        icon="convert"
        title={`${job.file.name} is converted`}
        action={
          <Button component="a" href={resultUrl(job.id)} download={`${job.file.name.replace(/\.\w+$/, '')}.${job.format === 'json' ? 'json' : 'md'}`} leftSection={<Icon name="download" size={16} />}>
            Download
          </Button>
        }
      >
        The document is too large to be shown here.
      </Empty>
    )
  }
  return <ConvertedDocument name={job.file.name} format={job.format} text={result.data} href={resultUrl(job.id)} archive={archiveOf(job.id)} />
}

function Jobs() {
  const limits = useLimits().data
  const [deleting, setDeleting] = useState<Job | null>(null)
  const [params] = useSearchParams()
  const jobs = useJobs()
  const remove = useDeleteJob()
  const close = (): void => {
    setDeleting(null)
    remove.reset()
  }
  const columns: readonly Column<Job>[] = [
    {
      title: 'File',
      cell: ({ id, file }) => (
        <>
          <Link href={address('/convert', { ...Object.fromEntries(params), job: id })} className={main}>
            {file.name}
          </Link>
          <span className={sub}>{bytes(file.size)}</span>
        </>
      ),
    },
    { title: 'Status', cell: ({ status }) => <Badge {...STATUS[status]} /> },
    { title: 'Pages', from: 'middle', right: true, cell: ({ progress }) => count(progress.pages_total ?? progress.pages_done) },
    { title: 'Kept until', from: 'wide', cell: ({ expires_at, status }) => (status === 'succeeded' ? dateTime(expires_at) : UNKNOWN) },
    { title: 'Uploaded', from: 'middle', cell: ({ created_at }) => ago(created_at) },
    {
      title: 'Actions',
      quiet: true,
      right: true,
      cell: (job) =>
        (isUnderWay(job) || job.status === 'succeeded') && (
          <Button variant="subtle" color="gray" size="compact-sm" onClick={() => (isUnderWay(job) ? remove.mutate(job.id) : setDeleting(job))} aria-label={`${isUnderWay(job) ? 'Cancel' : 'Delete'} ${job.file.name}`}>
            {isUnderWay(job) ? 'Cancel' : 'Delete'}
          </Button>
        ),
    },
  ]
  return (
    <Card title="Jobs" note={limits === undefined ? undefined : `ZIP files over ${bytes(limits.async_above_bytes)} are converted in the background. Results are kept for ${span(limits.result_retention_seconds)}.`} flush>
      {deleting === null && <ProblemNote error={remove.error} />}
      <Confirm title={`Delete “${deleting?.file.name ?? ''}”?`} opened={deleting !== null} onClose={close} submit="Delete" busy={remove.isPending} error={remove.error} onConfirm={() => deleting && remove.mutate(deleting.id, { onSuccess: close })}>
        Its document is deleted from the server. To have it again, convert the export again.
      </Confirm>
      <PagedTable
        label="Jobs"
        query={jobs}
        columns={columns}
        empty={
          <Empty icon="convert" title="No jobs yet">
            A large archive that you drop above is listed here until its result expires.
          </Empty>
        }
      />
    </Card>
  )
}
