import { Button, FileButton, Progress, Switch } from '@mantine/core'
import { useEffect, useState, type DragEvent } from 'react'
import { Link, useSearchParams } from 'wouter'
import { useFilters } from '../address.ts'
import { isUnderWay, newIdempotencyKey, resultUrl, useDeleteJob, useJob, useJobs, useResult, type Converted } from '../api/convert.ts'
import { address } from '../api/http.ts'
import { useAccount } from '../api/session.ts'
import type { Job } from '../api/shapes.ts'
import { UNKNOWN, ago, bytes, count, dateTime, usedOf } from '../format.ts'
import { Badge, type State } from '../ui/bits.tsx'
import { Icon } from '../ui/icons.tsx'
import { Bars, Card, Empty, Failed, Loaded, Page, ProblemNote } from '../ui/page.tsx'
import { Segments } from '../ui/segments.tsx'
import { PagedTable, main, sub, type Column } from '../ui/table.tsx'
import { ConvertedDocument } from './convert-document.tsx'
import { useLastConversion } from './converting.tsx'
import css from './convert.module.css'

export default function ConvertPage() {
  const [filters, change] = useFilters({ format: 'markdown', metadata: '', job: '' })
  const conversion = useLastConversion()
  useKept()
  const format = filters.format === 'json' ? 'json' : 'markdown'
  const wishes = { format, include_metadata: filters.metadata !== '' } as const
  const start = (file: File): void => {
    if (filters.job !== '') change({ job: '' })
    conversion.mutate({ file, wishes, key: newIdempotencyKey() }, { onSuccess: (made: Converted) => isHere() && change({ job: made.kind === 'job' ? made.job.id : '' }) })
  }
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
        {conversion.isPending ? <Sending name={conversion.variables.file.name} size={conversion.variables.file.size} part={conversion.part} onCancel={conversion.cancel} /> : <Drop onFile={start} />}
      </section>
      {!isCanceled(conversion.error) && <ProblemNote error={conversion.error} />}
      {filters.job === '' && conversion.data?.kind === 'document' && (
        <Card flush>
          <ConvertedDocument {...conversion.data} />
        </Card>
      )}
      {filters.job !== '' && <JobView key={filters.job} id={filters.job} />}
      <Jobs />
    </Page>
  )
}

/** The browser would open a file that is dropped beside the box in this page's place. */
function useKept(): void {
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

/** Whoever looks at another page by now stays there. */
const isHere = (): boolean => location.pathname === '/convert'

const isCanceled = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError'

function Quota() {
  const { quota } = useAccount()
  if (quota.conversions_per_day === null) return null
  return <span className={css.quota}>{usedOf(quota)} conversions used today</span>
}

function Drop({ onFile }: { onFile: (file: File) => void }) {
  const [over, setOver] = useState(false)
  const drop = (event: DragEvent): void => {
    event.preventDefault()
    setOver(false)
    const [file] = event.dataTransfer.files
    if (file) onFile(file)
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
      <strong>Drop an export here</strong>
      <p>.html up to 10 MB, .zip up to 50 MB</p>
      <FileButton accept=".html,.htm,.zip" inputProps={{ 'aria-label': 'File to convert' }} onChange={(file) => file && onFile(file)}>
        {(props) => (
          <Button {...props} leftSection={<Icon name="upload" size={16} />}>
            Choose a file
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
  return <ConvertedDocument name={job.file.name} format={job.format} text={result.data} href={resultUrl(job.id)} />
}

function Jobs() {
  const [params] = useSearchParams()
  const jobs = useJobs()
  const remove = useDeleteJob()
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
          <Button variant="subtle" color="gray" size="compact-sm" onClick={() => remove.mutate(job.id)} aria-label={`${isUnderWay(job) ? 'Cancel' : 'Delete'} ${job.file.name}`}>
            {isUnderWay(job) ? 'Cancel' : 'Delete'}
          </Button>
        ),
    },
  ]
  return (
    <Card title="Jobs" note="Archives over 5 MB are converted in the background. Their results are kept for a while." flush>
      <ProblemNote error={remove.error} />
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
