// The queue of files to convert. It lives above the pages, so that it survives a visit to another
// page.
import {
  createContext,
  use,
  useCallback,
  useEffect,
  useMemo,
  useState,
  type ReactNode,
} from 'react'
import { now } from '../format.ts'
import {
  newIdempotencyKey,
  useConversion,
  type ConvertOptions,
  type Converted,
} from '../api/convert.ts'
import { useSavedDocuments, type SavedDocument } from '../api/saved-documents.ts'
import { useAccount } from '../api/session.ts'
import type { Job } from '../api/shapes.ts'
import { useAskBeforeLeaving } from '../ui/ask-before-leaving.ts'

/** A file and its state. */
export interface Task {
  id: string
  file: File
  options: ConvertOptions
  state: 'waiting' | 'sending' | 'done' | 'failed' | 'canceled'
  error: unknown
  /** The result: a document in this browser, or a job on the server. */
  made: { kind: 'document'; id: string } | { kind: 'job'; job: Job } | null
}

interface Line {
  tasks: readonly Task[]
  /** The fraction of the current file that has been sent, from 0 to 1. */
  part: number
  /** Adds files, and removes finished ones. */
  start: (files: readonly File[], options: ConvertOptions) => void
  /** Cancels the current file, or removes a waiting one. */
  cancel: (id: string) => void
}

const Conversions = createContext<Line | null>(null)

/** The archives of this tab's jobs, for their pictures. */
const archives = new Map<string, Blob>()
/** The archive from which a job was started in this tab, for its pictures. */
export const archiveOf = (job: string): Blob | null => archives.get(job) ?? null

const isOver = ({ state }: Task): boolean => state !== 'waiting' && state !== 'sending'
const isCanceled = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'AbortError'

/** The document to save in this browser. */
function keptOf(
  made: Exclude<Converted, { kind: 'job' }>,
  file: File,
): Omit<SavedDocument, 'id' | 'account' | 'at'> {
  const { name, certified } = made
  if (made.kind === 'pages')
    return {
      name,
      certified,
      format: 'markdown',
      text: '',
      archive: made.archive,
      layout: 'pages',
    }
  const archive = /\.zip$/i.test(file.name) ? file : null
  return { name, certified, format: made.format, text: made.text, archive }
}

/** Runs uploads one by one, and keeps them while the user visits other pages. */
export function Converting({ children }: { children: ReactNode }) {
  const account = useAccount().id
  const { mutate, cancel: abort, part, isPending } = useConversion()
  const { keep } = useSavedDocuments(account)
  const [tasks, setTasks] = useState<readonly Task[]>([])
  const change = useCallback(
    (id: string, to: Partial<Task>): void =>
      setTasks((tasks) => tasks.map((task) => (task.id === id ? { ...task, ...to } : task))),
    [],
  )
  const next = tasks.some(({ state }) => state === 'sending')
    ? undefined
    : tasks.find(({ state }) => state === 'waiting')
  useEffect(() => {
    if (!next || isPending) return
    const { id, file, options } = next
    change(id, { state: 'sending' })
    mutate(
      { file, options, key: newIdempotencyKey() },
      {
        onSuccess: (made) => {
          if (made.kind === 'job') {
            archives.set(made.job.id, file)
            change(id, { state: 'done', made })
            return
          }
          const document = { id, account, at: now(), ...keptOf(made, file) }
          void keep(document).then(() =>
            change(id, { state: 'done', made: { kind: 'document', id } }),
          )
        },
        onError: (error) => change(id, { state: isCanceled(error) ? 'canceled' : 'failed', error }),
      },
    )
  })
  useAskBeforeLeaving(tasks.some((task) => !isOver(task)))
  const line = useMemo(
    (): Line => ({
      tasks,
      part,
      start: (files, options) => {
        const added = files.map((file): Task => ({
          id: newIdempotencyKey(),
          file,
          options,
          state: 'waiting',
          error: null,
          made: null,
        }))
        setTasks((tasks) => [...tasks.filter((task) => !isOver(task)), ...added])
      },
      cancel: (id) => {
        if (tasks.find((task) => task.id === id)?.state === 'sending') abort()
        else change(id, { state: 'canceled' })
      },
    }),
    [tasks, part, abort, change],
  )
  return <Conversions value={line}>{children}</Conversions>
}

/** The queue of conversions. Only for pages behind the sign-in. */
export function useConversions(): Line {
  const line = use(Conversions)
  if (line === null) throw new Error('nothing is converted here')
  return line
}
