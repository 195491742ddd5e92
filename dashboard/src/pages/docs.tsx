import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { call } from '../api/http.ts'
import { OpenApi, readGroups, type Field, type Operation } from '../openapi.ts'
import { Card, Loaded, Page } from '../ui/page.tsx'
import { Prose } from '../ui/bits.tsx'
import { TryIt } from './docs-try.tsx'
import css from './docs.module.css'

/** The API reference, generated from /openapi.json. */
export default function DocsPage() {
  const document = useQuery({
    queryKey: ['openapi'],
    queryFn: ({ signal }) => call(OpenApi, '/openapi.json', { signal }),
    select: readGroups,
    staleTime: Infinity,
  })
  const here = document.data !== undefined
  // The browser looked for the URL's fragment before the content was there.
  useEffect(() => {
    const part = here ? window.document.getElementById(location.hash.slice(1)) : null
    part?.scrollIntoView()
    part?.focus({ preventScroll: true })
  }, [here])
  return (
    <Page
      title="API reference"
      lead={
        <>
          Everything this dashboard does, except signing in, is also available with an API token.
          Machine-readable: <a href="/openapi.json">openapi.json</a>
        </>
      }
    >
      {document.data === undefined ? (
        <Card flush>
          <Loaded query={document} rows={8}>
            {() => null}
          </Loaded>
        </Card>
      ) : (
        <div className={css.layout}>
          <nav className={css.toc} aria-label="Parts of the API">
            <ul>
              {document.data.map(({ name }) => (
                <li key={name}>
                  <a href={`#${idOf(name)}`}>{name}</a>
                </li>
              ))}
            </ul>
          </nav>
          <div className={css.groups}>
            {document.data.map(({ name, operations }) => (
              <section key={name} aria-labelledby={idOf(name)}>
                <h2 id={idOf(name)} className={css.group} tabIndex={-1}>
                  {name}
                </h2>
                {operations.map((operation) => (
                  <OperationView key={operation.id} operation={operation} />
                ))}
              </section>
            ))}
          </div>
        </div>
      )}
    </Page>
  )
}

/** The anchor of a group. */
const idOf = (name: string): string => name.replaceAll(' ', '-')

function OperationView({ operation }: { operation: Operation }) {
  const { method, path, summary, description, parameters, bodyType, body, responses } = operation
  const [open, setOpen] = useState(false)
  return (
    <details className={css.operation} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span className={`${css.method} ${css[method.toLowerCase()] ?? ''}`}>{method}</span>
        <span className={css.path}>{path}</span>
        <span className={css.summary}>
          <Prose text={summary} />
        </span>
      </summary>
      {open && (
        <div className={css.body}>
          {description !== '' &&
            description.split('\n\n').map((part) => (
              <p key={part}>
                <Prose text={part} />
              </p>
            ))}
          <Fields title="Parameters" fields={parameters} />
          <Fields title={`Body, ${bodyType ?? ''}`} fields={body} />
          {responses.map(({ status, fields }) => (
            <Fields key={status} title={`Response ${status}`} fields={fields} />
          ))}
          <div>
            <h3>Responses</h3>
            <ul className={css.responses}>
              {responses.map(({ status, description, types }) => (
                <li key={status}>
                  <span className={css.status}>{status}</span>
                  <span>
                    <Prose text={description} /> <span className="dimmed">{types}</span>
                  </span>
                </li>
              ))}
            </ul>
          </div>
          <TryIt operation={operation} />
        </div>
      )}
    </details>
  )
}

function Fields({ title, fields }: { title: string; fields: readonly Field[] }) {
  if (fields.length === 0) return null
  return (
    <div>
      <h3>{title}</h3>
      <dl className={css.fields}>
        {fields.map(({ name, type, required, description, place }) => (
          <div key={`${place ?? ''} ${name}`}>
            <dt>
              <code>{name}</code>
              <span className={css.type}>
                {place === undefined ? type : `${type}, in the ${place}`}
              </span>
              {required && (place !== undefined || title.startsWith('Body')) && (
                <span className={css.required}>required</span>
              )}
            </dt>
            {description !== '' && (
              <dd>
                <Prose text={description} />
              </dd>
            )}
          </div>
        ))}
      </dl>
    </div>
  )
}
