import { Button } from '@mantine/core'
import { Link } from 'wouter'
import { useKeyNames, useKeys } from '../api/keys.ts'
import { useAccount } from '../api/session.ts'
import { useUsage } from '../api/usage.ts'
import { useAttention } from '../attention.ts'
import { count } from '../format.ts'
import { RankedBars, type Ranked } from '../ui/chart.tsx'
import { Icon } from '../ui/icons.tsx'
import { Card, Empty, Loaded, Page } from '../ui/page.tsx'
import { Segments } from '../ui/segments.tsx'
import { UsagePanel, usePeriod } from '../ui/usage-panel.tsx'
import { PERIODS, type Span } from '../usage-series.ts'
import css from './overview.module.css'

export default function OverviewPage() {
  const { name, span, change } = usePeriod()
  const keys = useKeys({ search: '', status: '', model: '', sort: '' })
  const without = keys.data?.pages[0]?.data.length === 0
  return (
    <Page
      title="Overview"
      actions={<Segments label="Period" value={name} items={Object.entries(PERIODS).map(([value, { label }]) => ({ value: value as typeof name, label }))} onChange={change} />}
    >
      {without && <FirstSteps />}
      <Attention />
      <UsagePanel span={span} splits={['none', 'key', 'model']} />
      <div className={css.two}>
        <Ranking span={span} by="key" title="Busiest keys" />
        <Ranking span={span} by="model" title="Busiest models" />
      </div>
    </Page>
  )
}

function Attention() {
  const items = useAttention()
  if (items.length === 0) return null
  return (
    <Card title="Needs attention" flush>
      <ul className={css.attention}>
        {items.map(({ text, href, action }) => (
          <li key={text}>
            <Icon name="alert" />
            <span>{text}</span>
            <Link className="textlink" href={href}>
              {action}
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  )
}

const MOST = 6

function Ranking({ span, by, title }: { span: Span; by: 'key' | 'model'; title: string }) {
  const usage = useUsage({ by, from: span.from, to: span.to })
  const names = useKeyNames()
  return (
    <Card title={title} note="by requests">
      <Loaded query={usage}>
        {(lines) => {
          const items = lines
            .map(({ key_id = '', model, requests }): Ranked =>
              by === 'key' ? { name: names.get(key_id) ?? key_id, value: requests, href: `/keys/${key_id}` } : { name: model ?? 'no model named', value: requests },
            )
            .sort((a, b) => b.value - a.value)
            .slice(0, MOST)
          if (items.length === 0) return <Empty icon="overview" title="No requests in this time" />
          return <RankedBars items={items} format={count} />
        }}
      </Loaded>
    </Card>
  )
}

function FirstSteps() {
  const { role } = useAccount()
  return (
    <Card title="Getting started">
      <ol className={css.steps}>
        {role === 'admin' && (
          <li>
            <h3>Connect a provider</h3>
            <p>Store the credential that the proxy presents to it.</p>
            <Button component={Link} href="/providers" variant="default" size="xs">
              Providers
            </Button>
          </li>
        )}
        <li>
          <h3>Create a key</h3>
          <p>Choose its models and its limit, and copy the snippet.</p>
          <Button component={Link} href="/keys?new=1" size="xs">
            Create a key
          </Button>
        </li>
        <li>
          <h3>Convert an export</h3>
          <p>Drop what Notion exported and read it as Markdown.</p>
          <Button component={Link} href="/convert" variant="default" size="xs">
            Convert
          </Button>
        </li>
      </ol>
    </Card>
  )
}
