// The files that are being converted, one after the other. They stand above the pages: whoever
// looks at another one meanwhile finds them again.
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

/** A file, and how far it is. */
export interface Task {
  id: string
  file: File
  options: ConvertOptions
  state: 'waiting' | 'sending' | 'done' | 'failed' | 'canceled'
  error: unknown
  /** What came of it: a document of this browser, or a job of the server. */
  made: { kind: 'document'; id: string } | { kind: 'job'; job: Job } | null
}

interface Line {
  tasks: readonly Task[]
  /** How much of the file under way has been sent, from 0 to 1. */
  part: number
  /** Adds files; those that are over go. */
  start: (files: readonly File[], options: ConvertOptions) => void
  /** Ends the one under way, or takes out one that waits. */
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

/** What this browser keeps of a conversion. */
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

/** Only pages behind the sign-in may ask. */
export function useConversions(): Line {
  const line = use(Conversions)
  if (line === null) throw new Error('nothing is converted here')
  return line
}
