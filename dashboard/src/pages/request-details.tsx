// One request of the ledger: its timeline and its usage.
import { Drawer } from '@mantine/core'
import { Link } from 'wouter'
import { shownTokens } from '../../../server/common/token-kinds.ts'
import { nameOfCredential, useProviderNames, useProviders } from '../api/credentials.ts'
import type { Provider, Refusal, Request } from '../api/shapes.ts'
import { useRequest } from '../api/usage.ts'
import { bytes, capitalized, counted, duration, exactTime, fullCount } from '../format.ts'
import { CodeBlock, Copy, Facts, Parts } from '../ui/bits.tsx'
import { useLazyOpen } from '../ui/dialog.tsx'
import { Fields, Loaded } from '../ui/page.tsx'
import { NO_MODEL, Outcome, RefusedBecause, refusalWords } from './request-columns.tsx'
import css from './request-details.module.css'

/** The drawer with everything recorded about one request. */
export function RequestDetails({ id, onClose }: { id: string | null; onClose: () => void }) {
  const request = useRequest(id)
  const { present, opened } = useLazyOpen(id !== null)
  if (!present) return null
  return (
    <Drawer
      opened={opened}
      onClose={onClose}
      position="right"
      size={520}
      title="Request"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {id !== null && (
        <Loaded query={request}>
          {(found) =>
            found.object === 'request' ? (
              <Details request={found} />
            ) : (
              <RefusalDetails refusal={found} />
            )
          }
        </Loaded>
      )}
    </Drawer>
  )
}

function Details({ request }: { request: Request }) {
  const { id, model, provider, error, upstream_error } = request
  const known = useProviders().data?.find(({ id }) => id === provider)
  return (
    <Fields>
      <div className={css.top}>
        <Outcome request={request} />
        <span className={`${css.model} mono`}>
          {model === null ? NO_MODEL.request : <Parts name={model} />}
        </span>
      </div>
      {error !== null && (
        <p className={css.error}>
          The proxy answered instead of the provider: {refusalWords(error)}.
        </p>
      )}
      {typeof upstream_error === 'string' && (
        <CodeBlock
          label={`Response from ${known?.name ?? provider}`}
          code={prettyOf(upstream_error)}
        />
      )}
      <Timeline request={request} />
      <Facts
        items={[
          ...shownTokens((column) => (request[column] ?? 0) > 0).map(
            ([kind, column]) =>
              [`${capitalized(kind)} tokens`, fullCount(request[column])] as const,
          ),
          ['Bytes in', bytes(request.bytes_in)],
          ['Bytes out', bytes(request.bytes_out)],
        ]}
      />
      <Path request={request} provider={known} />
      <Id id={id} />
    </Fields>
  )
}

/** The key, account, provider and credential of a request. */
function Path({ request, provider }: { request: Request; provider: Provider | undefined }) {
  const { credential_id, upstream_request_id, context, end_user } = request
  // A credential that was removed, or that only administrators see, has an id but no name.
  const credential = provider?.credentials?.find(({ id }) => id === credential_id)
  return (
    <Facts
      items={[
        ['Key', <KeyLink key="key" of={request} />],
        ...(end_user ? [['End user', end_user] as const] : []),
        ['Provider', provider?.name ?? request.provider],
        ['Endpoint', <Parts key="endpoint" name={`${request.method} ${request.endpoint}`} />],
        ['Received', exactTime(request.created_at)],
        [
          'Credential',
          credential === undefined ? (credential_id ?? 'None') : nameOfCredential(credential),
        ],
        ...(upstream_request_id
          ? [['Provider request ID', <Parts key="upstream" name={upstream_request_id} />] as const]
          : []),
        ['Context key', context === null ? 'None' : `${context.slice(0, 12)}… (hash)`],
      ]}
    />
  )
}

function KeyLink({ of: { key_id, key_name } }: { of: Pick<Request, 'key_id' | 'key_name'> }) {
  return (
    <Link className="textlink" href={`/keys/${key_id}`}>
      {key_name ?? key_id}
    </Link>
  )
}

function Id({ id }: { id: string }) {
  return (
    <div className={css.id}>
      <span className="mono">{id}</span>
      <Copy text={id} compact what="the request ID" />
    </div>
  )
}

/** Formats JSON on several lines if it is complete. */
function prettyOf(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** The details of a refused request. */
function RefusalDetails({ refusal }: { refusal: Refusal }) {
  const { id, model, provider, method, created_at, code, detail, count } = refusal
  const nameOf = useProviderNames()
  return (
    <Fields>
      <div className={css.top}>
        <RefusedBecause refusal={refusal} />
        <span className={`${css.model} mono`}>
          {model === null ? NO_MODEL.refusal : <Parts name={model} />}
        </span>
      </div>
      <p className={css.error}>{detail}</p>
      <Facts
        items={[
          ['Key', <KeyLink key="key" of={refusal} />],
          ['Provider', provider === null ? 'None' : nameOf(provider)],
          ['Method', method],
          ['Code', <Parts key="code" name={code} />],
          ['Refused', exactTime(created_at)],
          ['Represents', counted(count, 'refusal')],
        ]}
      />
      <p className="dimmed">It never reached a provider and does not count as usage.</p>
      <Id id={id} />
    </Fields>
  )
}

/** Waiting for the first byte, then receiving, to scale. */
function Timeline({ request: { first_byte_ms, total_ms } }: { request: Request }) {
  if (total_ms === null) return <p className="dimmed">The duration is not known yet.</p>
  const first = Math.min(first_byte_ms ?? total_ms, total_ms)
  const part = total_ms === 0 ? 100 : (first / total_ms) * 100
  return (
    <div>
      <svg
        className={css.timeline}
        viewBox="0 0 100 10"
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <rect width={part} height="10" className={css.waiting} />
        <rect x={part} width={100 - part} height="10" className={css.receiving} />
      </svg>
      <dl className={css.times}>
        <div>
          <dt>
            <i className={css.waitingSwatch} />
            Waiting for the first byte
          </dt>
          <dd>{duration(first_byte_ms)}</dd>
        </div>
        <div>
          <dt>
            <i className={css.receivingSwatch} />
            Receiving
          </dt>
          <dd>{duration(first_byte_ms === null ? null : total_ms - first)}</dd>
        </div>
        <div>
          <dt>Total</dt>
          <dd>{duration(total_ms)}</dd>
        </div>
      </dl>
    </div>
  )
}
