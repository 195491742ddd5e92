import { Button } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { Link } from 'wouter'
import { useJobs } from '../api/convert.ts'
import { useProviders } from '../api/credentials.ts'
import { useHasKeys } from '../api/keys.ts'
import { useAccount } from '../api/session.ts'
import type { Overview } from '../api/shapes.ts'
import { useModels, useOverview } from '../api/usage.ts'
import { ago, dateTime } from '../format.ts'
import { quoted } from '../ui/bits.tsx'
import { RankedBars, type Ranked } from '../ui/ranked-bars.tsx'
import { Icon } from '../ui/icons.tsx'
import { Card, Empty, Page } from '../ui/page.tsx'
import { PeriodChoice, UsagePanel, usePeriod } from '../ui/usage-panel.tsx'
import css from './overview.module.css'

/** The first page: totals, warnings and the first steps. */
export default function OverviewPage() {
  const [period] = usePeriod()
  const overview = useOverview(period)
  const hasKeys = useHasKeys()
  return (
    <Page title="Overview" actions={<PeriodChoice />}>
      {hasKeys !== undefined && overview.data && (
        <FirstSteps hasKeys={hasKeys} requests={overview.data.totals.requests} />
      )}
      {overview.data && <Attention items={overview.data.attention} />}
      <UsagePanel />
      {overview.data && (
        <div className={css.two}>
          <Ranking
            title="Busiest keys"
            items={overview.data.keys.map(({ key_id, name, requests }) => ({
              name: name ?? key_id,
              value: requests,
              href: `/keys/${key_id}`,
            }))}
          />
          <Ranking title="Busiest models" items={modelsOf(overview.data.models)} />
        </div>
      )}
    </Page>
  )
}

/** Adds the provider to a model that several providers have. */
function modelsOf(models: Overview['models']): Ranked[] {
  const times = Map.groupBy(models, ({ model }) => model)
  return models.map(({ model, provider, requests }) => {
    const name = model ?? 'No model named'
    return {
      name: (times.get(model)?.length ?? 0) > 1 ? `${name} (${provider})` : name,
      value: requests,
    }
  })
}

function Attention({ items }: { items: Overview['attention'] }) {
  if (items.length === 0) return null
  return (
    <Card title="Needs attention" flush>
      <ul className={css.attention}>
        {items.map(({ kind, detail, key_id, credential_id, provider, at, name }) => (
          <li key={`${kind} ${key_id ?? credential_id ?? provider ?? ''}`}>
            <Icon name="alert" />
            <span>
              {kind === 'key_expires' && at !== null
                ? `The key “${name ?? key_id}” expires ${ago(at)}: ${dateTime(at)}. Set another date, or replace it.`
                : quoted(detail)}
            </span>
            <Link href={key_id === null ? '/providers' : `/keys/${key_id}`} className="textlink">
              {key_id === null ? 'Providers' : 'Open key'}
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  )
}

const MAX_RANKED = 6

function Ranking({ title, items }: { title: string; items: readonly Ranked[] }) {
  return (
    <Card title={title} note="by requests">
      {items.length === 0 ? (
        <Empty icon="overview" title="No requests in this period">
          Send a request, or choose a longer period.
        </Empty>
      ) : (
        <RankedBars items={items.slice(0, MAX_RANKED)} />
      )}
    </Card>
  )
}

/** TABLE of the first steps. */
const STEPS = [
  {
    name: 'provider',
    title: 'Connect a provider',
    says: 'Add the API key that the proxy uses.',
    href: '/providers',
    button: 'Providers',
    admin: true,
  },
  {
    name: 'key',
    title: 'Create a key',
    says: 'Choose its models and rate limit.',
    href: '/keys?new=1',
    button: 'Create a key',
    admin: false,
  },
  {
    name: 'request',
    title: 'Send a request',
    says: 'Copy a snippet for your key and run it.',
    href: '/keys',
    button: 'Keys',
    admin: false,
  },
  {
    name: 'convert',
    title: 'Convert an export',
    says: 'Turn a Notion export into Markdown.',
    href: '/convert',
    button: 'Convert',
    admin: false,
  },
] as const

type Step = (typeof STEPS)[number]['name']

/** Shown until every step is done or the user hides it. Completed steps are ticked. */
function FirstSteps({ hasKeys, requests }: { hasKeys: boolean; requests: number }) {
  const { role, quota } = useAccount()
  const providers = useProviders().data
  const seen = useModels()
  const jobs = useJobs().data
  const [hidden, setHidden] = useLocalStorage({
    key: 'first-steps-hidden',
    defaultValue: false,
    getInitialValueInEffect: false,
  })
  if (providers === undefined || jobs === undefined || hidden) return null
  const done: Record<Step, boolean> = {
    provider: providers.some(({ ready }) => ready),
    key: hasKeys,
    request: requests > 0 || seen.length > 0,
    convert: quota.used_today > 0 || jobs.rows.length > 0,
  }
  const steps = STEPS.filter(({ admin }) => !admin || role === 'admin')
  if (steps.every(({ name }) => done[name])) return null
  const next = steps.find(({ name }) => !done[name])
  return (
    <Card
      title="Getting started"
      note={`${steps.filter(({ name }) => done[name]).length} of ${steps.length} done`}
      actions={
        <Button variant="subtle" color="gray" size="compact-sm" onClick={() => setHidden(true)}>
          Hide
        </Button>
      }
    >
      <ol className={css.steps}>
        {steps.map(({ name, title, says, href, button }) => (
          <li key={name} data-done={done[name] || undefined}>
            <h3>
              {title}
              {done[name] && (
                <span className={css.done}>
                  <Icon name="check" size={16} />
                  <span className="visually-hidden">, done</span>
                </span>
              )}
            </h3>
            <p>{says}</p>
            {!done[name] && (
              <Button
                component={Link}
                href={href}
                variant={name === next?.name ? 'filled' : 'default'}
                size="xs"
              >
                {button}
              </Button>
            )}
          </li>
        ))}
      </ol>
    </Card>
  )
}
