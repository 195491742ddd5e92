// Jobs: the progress of one, and the list.
import { Button, Progress } from '@mantine/core'
import { useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import {
  certifiedOf,
  isUnfinished,
  resultUrl,
  useDeleteJob,
  useJob,
  useJobs,
  useLimits,
  useResult,
} from '../api/convert.ts'
import { withQuery } from '../api/query-string.ts'
import type { Job } from '../api/shapes.ts'
import { UNKNOWN, ago, bytes, count, dateTime, span } from '../format.ts'
import { Badge, type State } from '../ui/bits.tsx'
import { ConfirmChange } from '../ui/confirm-change.tsx'
import { Icon } from '../ui/icons.tsx'
import { Skeletons, Card, Empty, Failed, Loaded, ProblemNote } from '../ui/page.tsx'
import { PagedTable, main, sub, type Column } from '../ui/table.tsx'
import { CertifiedLine } from './certified-line.tsx'
import { ConvertedDocument, ENDINGS } from './convert-document.tsx'
import { ConvertedPages } from './convert-pages.tsx'
import css from './convert.module.css'
import { archiveOf } from './converting.tsx'

/** TABLE of the states of a job. */
const STATUS: Readonly<Record<Job['status'], State>> = {
  queued: { label: 'Waiting', tone: 'calm' },
  running: { label: 'Running', tone: 'warn' },
  succeeded: { label: 'Done', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
  canceled: { label: 'Canceled', tone: 'calm' },
  expired: { label: 'Expired', tone: 'calm' },
}

/** One job: its progress, its document or its error. */
export function JobView({ id }: { id: string }) {
  const job = useJob(id)
  return (
    <Card flush>
      <Loaded query={job}>
        {(job) => (isUnfinished(job) ? <Running job={job} /> : <Finished job={job} />)}
      </Loaded>
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
        <Button
          variant="default"
          size="xs"
          loading={remove.isPending}
          onClick={() => remove.mutate(job.id)}
        >
          Cancel
        </Button>
      </div>
      <Progress
        value={
          pages_total === null || pages_total === 0
            ? 100
            : Math.round((pages_done / pages_total) * 100)
        }
        animated={pages_total === null}
        aria-label={`Conversion of ${job.file.name}`}
      />
      <span className="dimmed num">
        {pages_total === null
          ? `${STATUS[job.status].label} …`
          : `${count(pages_done)} of ${count(pages_total)} pages`}
      </span>
      <ProblemNote error={remove.error} />
    </div>
  )
}

function Finished({ job }: { job: Job }) {
  const result = useResult(job)
  if (job.status !== 'succeeded') {
    return (
      <Empty icon="alert" title={`${job.file.name}: ${STATUS[job.status].label.toLowerCase()}`}>
        {job.error?.detail ??
          (job.status === 'expired'
            ? 'The result has expired. Upload the file again.'
            : 'There is no result.')}
      </Empty>
    )
  }
  const certified = certifiedOf(job)
  if (job.layout === 'pages')
    return <ConvertedPages name={job.file.name} certified={certified} from={resultUrl(job.id)} />
  if (result.error !== null)
    return <Failed error={result.error} retry={() => void result.refetch()} />
  if (result.data === undefined) return <Skeletons rows={8} />
  if (result.data === null) {
    return (
      <Empty
        icon="convert"
        title={`${job.file.name} is converted`}
        action={
          <Button
            component="a"
            href={resultUrl(job.id)}
            download={`${job.file.name.replace(/\.\w+$/, '')}.${ENDINGS[job.format]}`}
            leftSection={<Icon name="download" size={16} />}
          >
            Download
          </Button>
        }
      >
        The document is too large to preview.
        <CertifiedLine certified={certified} />
      </Empty>
    )
  }
  return (
    <ConvertedDocument
      name={job.file.name}
      format={job.format}
      text={result.data}
      href={resultUrl(job.id)}
      archive={archiveOf(job.id)}
      certified={certified}
    />
  )
}

/** The table of the account's jobs. */
export function Jobs() {
  const limits = useLimits().data
  const [deleting, setDeleting] = useState<Job | null>(null)
  const [params] = useSearchParams()
  const remove = useDeleteJob()
  const note =
    limits &&
    `ZIP files over ${bytes(limits.async_above_bytes)} convert in the background. Results are kept for ${span(limits.result_retention_seconds)}.`
  const columns = jobColumns(
    (job) => withQuery('/convert', { ...Object.fromEntries(params), job }),
    (job) => (isUnfinished(job) ? remove.mutate(job.id) : setDeleting(job)),
  )
  return (
    <Card title="Jobs" note={note} flush>
      {deleting === null && <ProblemNote error={remove.error} />}
      <ConfirmChange
        title={`Delete “${deleting?.file.name ?? ''}”?`}
        opened={deleting !== null}
        onClose={() => setDeleting(null)}
        submit="Delete"
        change={remove}
        onConfirm={(done) => deleting && remove.mutate(deleting.id, { onSuccess: done })}
      >
        This deletes the document from the server. To get it back, convert the export again.
      </ConfirmChange>
      <PagedTable
        label="Jobs"
        query={useJobs()}
        columns={columns}
        empty={
          <Empty icon="convert" title="No jobs yet">
            Large archives you add above are listed here until their results expire.
          </Empty>
        }
      />
    </Card>
  )
}

/** TABLE of columns; the last one cancels a job, or asks before deleting a document. */
function jobColumns(
  hrefOf: (id: string) => string,
  end: (job: Job) => void,
): readonly Column<Job>[] {
  return [
    {
      title: 'File',
      cell: ({ id, file }) => (
        <>
          <Link href={hrefOf(id)} className={main}>
            {file.name}
          </Link>
          <span className={sub}>{bytes(file.size)}</span>
        </>
      ),
    },
    { title: 'Status', cell: ({ status }) => <Badge {...STATUS[status]} /> },
    {
      title: 'Pages',
      from: 'middle',
      right: true,
      cell: ({ progress }) => count(progress.pages_total ?? progress.pages_done),
    },
    {
      title: 'Kept until',
      from: 'wide',
      cell: ({ expires_at, status }) => (status === 'succeeded' ? dateTime(expires_at) : UNKNOWN),
    },
    { title: 'Uploaded', from: 'middle', cell: ({ created_at }) => ago(created_at) },
    {
      title: 'Actions',
      quiet: true,
      right: true,
      cell: (job) => <JobAction job={job} onEnd={end} />,
    },
  ]
}

/** Cancels an unfinished job, or deletes the document of a finished one. */
function JobAction({ job, onEnd }: { job: Job; onEnd: (job: Job) => void }) {
  if (!isUnfinished(job) && job.status !== 'succeeded') return null
  const verb = isUnfinished(job) ? 'Cancel' : 'Delete'
  return (
    <Button
      variant="subtle"
      color="gray"
      size="compact-sm"
      onClick={() => onEnd(job)}
      aria-label={`${verb} ${job.file.name}`}
    >
      {verb}
    </Button>
  )
}
