// Runs an operation from its description: as a curl command, or in the current session.
import { Button, TextInput, Textarea } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { withQuery } from '../api/query-string.ts'
import { useOnce } from '../api/queries.ts'
import type { Operation } from '../openapi.ts'
import { quoted } from '../snippet-code.ts'
import { Badge, CodeBlock } from '../ui/bits.tsx'
import css from './docs.module.css'

/** A form that sends one operation and shows the response. */
export function TryIt({ operation }: { operation: Operation }) {
  const { method, path, parameters, bodyType, example, guarded } = operation
  const [values, setValues] = useState<Record<string, string>>({})
  const [body, setBody] = useState(example ?? '')
  const proxied = path.startsWith('/proxy')
  const asked = proxied
    ? []
    : parameters.filter(({ place }) => place === 'path' || place === 'query')
  const target = targetOf(path, asked, values)
  const sent = example === null ? null : body
  // Not for streams, which never end, nor for uploads.
  const runnable =
    !proxied && (bodyType === null || bodyType === 'application/json') && !path.endsWith('/events')
  return (
    <div>
      <h3>Example</h3>
      <div className={css.try}>
        {runnable && asked.length > 0 && (
          <div className={css.inputs}>
            {asked.map(({ name, required }) => (
              <TextInput
                key={name}
                size="xs"
                label={name}
                required={required}
                value={values[name] ?? ''}
                onChange={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
              />
            ))}
          </div>
        )}
        {example !== null && !proxied && (
          <Textarea
            label="Body"
            classNames={{ input: css.json ?? '' }}
            rows={Math.min(12, body.split('\n').length + 1)}
            spellCheck={false}
            value={body}
            onChange={(event) => setBody(event.currentTarget.value)}
          />
        )}
        <CodeBlock
          label="curl"
          code={
            proxied
              ? proxiedCurl(path, method)
              : curl({ method, target, guarded, bodyType, body: sent })
          }
        />
        <Run method={method} target={target} body={sent} possible={runnable} />
      </div>
    </div>
  )
}

/** The URL with the entered values; missing ones stay in braces. */
function targetOf(
  path: string,
  asked: Operation['parameters'],
  values: Readonly<Record<string, string>>,
): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (whole, name: string) =>
    values[name] ? encodeURIComponent(values[name]) : whole,
  )
  const query = asked.flatMap(({ name, place }) =>
    place === 'query' && values[name] ? [[name, values[name]]] : [],
  )
  return withQuery(filled, Object.fromEntries(query))
}

interface RunProps {
  method: string
  target: string
  /** JSON, or null for none. */
  body: string | null
  possible: boolean
}

/** The button that sends the operation, and its response. */
function Run({ method, target, body, possible }: RunProps) {
  const client = useQueryClient()
  const run = useOnce(
    useMutation({
      mutationFn: async () => {
        const headers: HeadersInit = body === null ? {} : { 'content-type': 'application/json' }
        const response = await fetch(target, { method, headers, body })
        return { status: response.status, text: pretty(await response.text()) }
      },
      onSuccess: () =>
        method !== 'GET' &&
        client.invalidateQueries({
          predicate: ({ queryKey }) => queryKey[0] !== 'session' && queryKey[0] !== 'openapi',
        }),
    }),
  )
  return (
    <>
      {possible && (
        <div>
          <Button
            size="xs"
            variant={method === 'GET' ? 'filled' : 'default'}
            loading={run.isPending}
            disabled={/\{/.test(target.split('?')[0] ?? '')}
            onClick={() => run.mutate()}
          >
            {method === 'GET' ? 'Run' : 'Run (changes data)'}
          </Button>
        </div>
      )}
      <div role="status">
        {run.error !== null && <p>The server is not responding.</p>}
        {run.data && (
          <>
            <p style={{ margin: '0 0 8px' }}>
              <Badge
                label={String(run.data.status)}
                tone={run.data.status < 400 ? 'good' : 'bad'}
              />
            </p>
            {run.data.text !== '' && <CodeBlock label="Response" code={run.data.text} />}
          </>
        )}
      </div>
    </>
  )
}

/**
 * A curl command for a proxied call. It is not run from here, because it has an effect at the
 * provider.
 */
function proxiedCurl(path: string, method: string): string {
  const upstream = method === 'GET' ? 'api.openai.com/v1/models' : 'api.openai.com/v1/responses'
  const target = path === '/proxy' ? `?url=https://${upstream}` : `/${upstream}`
  const lines = [
    `curl${method === 'GET' || method === 'POST' ? '' : ` -X ${method}`} ${quoted(`${location.origin}/proxy${target}`)}`,
    '-H "Authorization: Bearer $TOLLMARK_KEY"',
  ]
  if (method !== 'GET' && method !== 'DELETE') {
    lines.push(
      "-H 'Content-Type: application/json'",
      `-d ${quoted('{"model":"gpt-5-mini","input":"Say hello."}')}`,
    )
  }
  return lines.join(' \\\n  ')
}

const MAX_SHOWN_CHARS = 20_000

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2).slice(0, MAX_SHOWN_CHARS)
  } catch {
    return text.slice(0, MAX_SHOWN_CHARS)
  }
}

function curl({
  method,
  target,
  guarded,
  bodyType,
  body,
}: {
  method: string
  target: string
  guarded: boolean
  bodyType: string | null
  body: string | null
}): string {
  const lines = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${quoted(location.origin + target)}`,
  ]
  if (guarded) lines.push('-H "Authorization: Bearer $TOLLMARK_TOKEN"')
  if (bodyType === 'multipart/form-data') lines.push('-F file=@Export.zip')
  if (body !== null)
    lines.push(
      "-H 'Content-Type: application/json'",
      `-d ${quoted(body.replaceAll('\n', ' ').replaceAll(/ {2,}/g, ' '))}`,
    )
  return lines.join(' \\\n  ')
}
