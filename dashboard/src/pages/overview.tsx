import { Button } from '@mantine/core'
import { Link } from 'wouter'
import { useKeys } from '../api/keys.ts'
import { useAccount } from '../api/session.ts'
import type { Overview } from '../api/shapes.ts'
import { useOverview } from '../api/usage.ts'
import { RankedBars, type Ranked } from '../ui/chart.tsx'
import { Icon } from '../ui/icons.tsx'
import { Card, Empty, Page } from '../ui/page.tsx'
import { PeriodChoice, UsagePanel, usePeriod } from '../ui/usage-panel.tsx'
import css from './overview.module.css'

export default function OverviewPage() {
  const [period] = usePeriod()
  const overview = useOverview(period)
  const keys = useKeys({ search: '', status: '', model: '', sort: '' })
  return (
    <Page title="Overview" actions={<PeriodChoice />}>
      {keys.data?.pages[0]?.data.length === 0 && <FirstSteps />}
      {overview.data && <Attention items={overview.data.attention} />}
      <UsagePanel />
      {overview.data && (
        <div className={css.two}>
          <Ranking title="Busiest keys" items={overview.data.keys.map(({ key_id, name, requests }) => ({ name: name ?? key_id, value: requests, href: `/keys/${key_id}` }))} />
          <Ranking title="Busiest models" items={overview.data.models.map(({ model, requests }) => ({ name: model ?? 'No model named', value: requests }))} />
        </div>
      )}
    </Page>
  )
}

function Attention({ items }: { items: Overview['attention'] }) {
  if (items.length === 0) return null
  return (
    <Card title="Needs attention" flush>
      <ul className={css.attention}>
        {items.map(({ kind, detail, key_id, credential_id }) => (
          <li key={`${kind} ${key_id ?? credential_id ?? ''}`}>
            <Icon name="alert" />
            <span>{detail}</span>
            <Link href={key_id === null ? '/providers' : `/keys/${key_id}`} className="textlink">
              {key_id === null ? 'Providers' : 'Open key'}
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  )
}

const MOST = 6

function Ranking({ title, items }: { title: string; items: readonly Ranked[] }) {
  return (
    <Card title={title} note="by requests">
      {items.length === 0 ? (
        <Empty icon="overview" title="No requests in this period">
          Send one with a key, or choose a longer period.
        </Empty>
      ) : (
        <RankedBars items={items.slice(0, MOST)} />
      )}
    </Card>
  )
}

/** TABLE of what somebody does first. */
const STEPS = [
  { title: 'Connect a provider', says: 'Store the credential that the proxy presents to it.', href: '/providers', button: 'Providers', variant: 'default', admin: true },
  { title: 'Create a key', says: 'Choose its models and its limit, and copy the snippet.', href: '/keys?new=1', button: 'Create a key', variant: 'filled', admin: false },
  { title: 'Convert an export', says: 'Drop what Notion exported and read it as Markdown.', href: '/convert', button: 'Convert', variant: 'default', admin: false },
] as const

function FirstSteps() {
  const { role } = useAccount()
  return (
    <Card title="Getting started">
      <ol className={css.steps}>
        {STEPS.filter(({ admin }) => !admin || role === 'admin').map(({ title, says, href, button, variant }) => (
          <li key={title}>
            <h3>{title}</h3>
            <p>{says}</p>
            <Button component={Link} href={href} variant={variant} size="xs">
              {button}
            </Button>
          </li>
        ))}
      </ol>
    </Card>
  )
}
