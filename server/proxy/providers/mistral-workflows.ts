// Endpoint rows of Mistral's workflows: https://docs.mistral.ai/api/endpoint/workflows
//
// A workflow is code that the operator deploys and that runs models of its own, so no key that is
// limited to models may run or control one. Deployments are machines of the account, and workflows
// are registered by a worker with the account's credential: both are closed for every key.
import type { EndpointRow } from './endpoint-row.ts'
import { creates, model, neutral, STORED } from './row-builders.ts'

const AT = '/v1/workflows'
const RUN = `${AT}/executions/{execution}`

const EXECUTED = {
  names: { execution_id: 'execution' },
  creates: { execution_id: 'execution', run_id: 'run' },
} as const

/** All endpoint rows of Mistral's workflows. */
export const MISTRAL_WORKFLOWS: readonly EndpointRow[] = [
  ...['', '/registrations'].flatMap((what) => [
    neutral(`GET ${AT}${what}`, {
      listed: { [`${what === '' ? 'workflows' : 'workflow_registrations'}[].id`]: 'workflow' },
    }),
    neutral(`GET ${AT}${what}/{workflow}`),
    model(`POST ${AT}${what}/{workflow}/execute`, STORED, EXECUTED),
  ]),
  neutral(`PUT ${AT}/{workflow}`),
  ...['archive', 'unarchive'].flatMap((verb) => [
    neutral(`PUT ${AT}/{workflow}/${verb}`),
    neutral(`PUT ${AT}/${verb}`, { names: { 'workflow_ids[]': 'workflow' } }),
  ]),
  neutral(`GET ${AT}/{workflow}/metrics`),
  ...['cancel', 'terminate'].flatMap((verb) => [
    model(`POST ${AT}/executions/${verb}`, STORED, {
      names: { 'execution_ids[]': 'execution' },
    }),
    model(`POST ${RUN}/${verb}`, STORED),
  ]),
  ...['queries', 'signals', 'updates', 'reset'].map((verb) => model(`POST ${RUN}/${verb}`, STORED)),
  neutral(`GET ${RUN}`),
  neutral(`GET ${RUN}/{any*}`),
  ...['list', 'stream'].map((form) => neutral(`GET ${AT}/events/${form}`, { lists: 'execution' })),
  neutral(`GET ${AT}/runs`, { listed: { 'executions[].execution_id': 'execution' } }),
  neutral(`GET ${AT}/runs/{run}`),
  neutral(`GET ${AT}/runs/{run}/history`),
  model(`POST ${AT}/schedules`, STORED, creates('schedule', 'schedule_id')),
  neutral(`GET ${AT}/schedules`),
  neutral(`GET DELETE ${AT}/schedules/{schedule}`),
  model(`PATCH ${AT}/schedules/{schedule}`, STORED),
  ...['pause', 'resume', 'trigger'].map((verb) =>
    model(`POST ${AT}/schedules/{schedule}/${verb}`, STORED),
  ),
]
