// The convert page: drop files, see the results.
import { Switch } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import { useFilters } from '../address.ts'
import { ApiError } from '../api/http.ts'
import type { ConvertOptions } from '../api/convert.ts'
import { useSavedDocuments, type SavedDocument } from '../api/saved-documents.ts'
import { useAccount } from '../api/session.ts'
import { usedOf } from '../format.ts'
import { Card, Page, ProblemNote } from '../ui/page.tsx'
import { Segments } from '../ui/segments.tsx'
import { ConvertedDocument, downloadBlob } from './convert-document.tsx'
import { Drop, Sending, usePreventFileNavigation } from './convert-drop.tsx'
import { Files, SavedDocuments } from './convert-files.tsx'
import { JobView, Jobs } from './convert-jobs.tsx'
import { ConvertedPages, pagesName } from './convert-pages.tsx'
import css from './convert.module.css'
import { useConversions, type Task } from './converting.tsx'

/** The URL parameters of the page, with defaults. */
const FILTERS = {
  format: 'markdown',
  metadata: '',
  layout: 'document',
  flavor: 'gfm',
  job: '',
  doc: '',
}

function optionsOf(filters: typeof FILTERS): ConvertOptions {
  const layout = filters.layout === 'pages' ? 'pages' : 'document'
  return {
    format: filters.format === 'json' && layout === 'document' ? 'json' : 'markdown',
    include_metadata: filters.metadata !== '',
    layout,
    flavor: FLAVORS.find(({ value }) => value === filters.flavor)?.value ?? 'gfm',
  }
}

/** The page that converts exports and shows the results. */
export default function ConvertPage() {
  const [filters, change] = useFilters(FILTERS)
  const { tasks, part, start, cancel } = useConversions()
  const saved = useSavedDocuments(useAccount().id)
  usePreventFileNavigation()
  const options = optionsOf(filters)
  const take = (files: readonly File[]): void => {
    change({ job: '', doc: '' })
    start(files, options)
  }
  // Shows the result of the newest file until another is selected.
  const made = tasks.findLast(({ made }) => made !== null)?.made ?? null
  const [shownFor, setShownFor] = useState(made)
  if (made !== shownFor) {
    setShownFor(made)
    if (made !== null && (filters.job !== '' || made.kind === 'job'))
      change({ job: made.kind === 'job' ? made.job.id : '', doc: '' })
  }
  const wanted =
    filters.doc === '' ? (made?.kind === 'document' ? made.id : undefined) : filters.doc
  const shown =
    saved.documents?.find(({ id }) => id === wanted) ??
    (wanted === undefined ? saved.documents?.[0] : undefined)
  const [only] = tasks
  return (
    <Page
      title="Convert"
      lead="In Notion, export as HTML (a page: ⋯ → Export; a workspace: Settings → Export content), then add the file here to get one Markdown document, or a folder of them."
    >
      <Options {...options} onChange={change} />
      <Upload tasks={tasks} part={part} onFiles={take} onCancel={cancel} />
      {tasks.length === 1 && only?.state === 'failed' && <ProblemNote error={only.error} />}
      {tasks.length > 1 && (
        <Files
          tasks={tasks}
          part={part}
          onCancel={cancel}
          onShow={(doc, job) => change({ doc, job })}
        />
      )}
      {tasks.some(({ error }) => isQuotaExceeded(error)) && <LargerPlanHint />}
      {filters.job === '' && shown !== undefined && (
        <Card flush>
          <Shown key={shown.id} {...shown} />
        </Card>
      )}
      {filters.job !== '' && <JobView key={filters.job} id={filters.job} />}
      {(saved.documents?.length ?? 0) > 1 && (
        <SavedDocuments
          documents={saved.documents ?? []}
          shown={filters.job === '' ? shown?.id : undefined}
          onShow={(doc) => change({ doc, job: '' })}
          onDrop={(id) => void saved.drop(id)}
        />
      )}
      <Jobs />
    </Page>
  )
}

/** A conversion saved in this browser. */
function Shown({ layout, archive, ...document }: SavedDocument) {
  const { name, certified = null } = document
  if (layout !== 'pages') return <ConvertedDocument archive={archive} {...document} />
  if (archive === null) return null
  const save = (): void => downloadBlob(pagesName(name), archive)
  return <ConvertedPages name={name} certified={certified} size={archive.size} from={save} />
}

interface UploadProps {
  tasks: readonly Task[]
  /** The fraction of the current file that has been sent, from 0 to 1. */
  part: number
  onFiles: (files: readonly File[]) => void
  onCancel: (id: string) => void
}

/**
 * The drop area, or the upload that replaces it. The element stays the same, so that it keeps the
 * focus.
 */
function Upload({ tasks, part, onFiles, onCancel }: UploadProps) {
  const [only] = tasks
  return (
    <section aria-label="Upload">
      {tasks.length === 1 && only?.state === 'sending' ? (
        <Sending
          name={only.file.name}
          size={only.file.size}
          part={part}
          onCancel={() => onCancel(only.id)}
        />
      ) : (
        <Drop onFiles={onFiles} />
      )}
    </section>
  )
}

/** TABLE of flavors of pages. */
const FLAVORS: readonly { value: ConvertOptions['flavor']; label: string }[] = [
  { value: 'gfm', label: 'GitHub' },
  { value: 'obsidian', label: 'Obsidian' },
  { value: 'docusaurus', label: 'Docusaurus' },
]

interface OptionsProps extends ConvertOptions {
  onChange: (filters: {
    format?: string
    metadata?: string
    layout?: string
    flavor?: string
  }) => void
}

/** The options for the next files, and the rest of today's quota. */
function Options({ format, include_metadata, layout, flavor, onChange }: OptionsProps) {
  return (
    <div className={css.options}>
      <Segments
        label="Layout"
        value={layout}
        items={[
          { value: 'document', label: 'One document' },
          { value: 'pages', label: 'Folder of pages' },
        ]}
        onChange={(layout) => onChange({ layout })}
      />
      {layout === 'pages' ? (
        <Segments
          label="Made for"
          value={flavor}
          items={FLAVORS}
          onChange={(flavor) => onChange({ flavor })}
        />
      ) : (
        <Segments
          label="Format"
          value={format}
          items={[
            { value: 'markdown', label: 'Markdown' },
            { value: 'json', label: 'JSON' },
          ]}
          onChange={(format) => onChange({ format })}
        />
      )}
      <Switch
        label="Include metadata"
        checked={include_metadata}
        onChange={(event) => onChange({ metadata: event.currentTarget.checked ? '1' : '' })}
      />
      <Quota />
    </div>
  )
}

const isQuotaExceeded = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'quota_exceeded'

/** Tells an administrator how to raise a quota that is used up. */
function LargerPlanHint() {
  if (useAccount().role !== 'admin') return null
  return (
    <p className="dimmed">
      You're an administrator. Define a larger plan with the setting <code>TOLLMARK_PLANS</code>,
      for example <code>{'{"unlimited":{"conversions_per_day":null}}'}</code>, restart the server,
      then assign it to your account under <Link href="/accounts">Accounts</Link>.
    </p>
  )
}

function Quota() {
  const { quota } = useAccount()
  if (quota.conversions_per_day === null) return null
  return <span className={css.quota}>{usedOf(quota)} conversions used today</span>
}
