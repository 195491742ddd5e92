// A server that the operator adds may be a gateway, which a request can tell to run other models
// than the one it names. For keys with models, whatever could do that is refused.
import type { BodyRule } from './body-rule.ts'
import type { EndpointRow } from './endpoint-row.ts'

/**
 * Fields with which gateways choose a model, or the server that runs it: LiteLLM
 * (docs.litellm.ai/docs/proxy/client_side_fallbacks, …/reliability; a key's router settings are a
 * field of the body for it) and TensorZero (its OpenAI-compatible API).
 */
const CHOICES = [
  'fallbacks',
  'context_window_fallbacks',
  'context_window_fallback_dict',
  'content_policy_fallbacks',
  'fallback_models',
  'router_settings_override',
  'preset',
  'prompt_id',
  'user_config',
  'model_list',
  'api_base',
  'base_url',
  'custom_llm_provider',
  'deployment_id',
  'litellm_params',
  'plugins',
  'tensorzero::extra_body',
  'tensorzero::variant_name',
  'tensorzero::internal_dynamic_variant_config',
]

/** `extra_body` may be put over the body. */
const EXTRA_MODELS = ['extra_body.model', 'extra_body.models[]']
const EXTRA_CHOICES = [...CHOICES, 'tools', 'extra_body'].map((name) => `extra_body.${name}`)

/**
 * Headers by which gateways choose a provider, an address or a model:
 * portkey.ai/docs/api-reference/inference-api/headers,
 * docs.helicone.ai/helicone-headers/header-directory. Others have "model" or "fallback" in their
 * names, as that of the Gateway API's inference extension (X-Gateway-Model-Name-Rewrite).
 */
const HEADERS = [
  'x-portkey-config',
  'x-portkey-provider',
  'x-portkey-virtual-key',
  'x-portkey-custom-host',
  'helicone-target-url',
  'helicone-openai-api-base',
  '*model',
  '*fallback',
]

/** The row of an endpoint at a server that may be a gateway. */
export function atGateway(row: EndpointRow): EndpointRow {
  const { model } = row
  if (model === undefined || !('body' in model)) return row
  return {
    ...row,
    model: {
      ...model,
      body: guarded(model.body),
      // Where the row has headers of its own, one of them names the model.
      ...(model.headers === undefined ? { headers: HEADERS } : {}),
    },
  }
}

const known = new WeakMap<BodyRule, BodyRule>()

function guarded(rule: BodyRule): BodyRule {
  let found = known.get(rule)
  if (found === undefined) {
    const { also = [], stored = [] } = rule
    found = {
      ...rule,
      also: [...also, ...EXTRA_MODELS],
      stored: [...stored, ...CHOICES, ...EXTRA_CHOICES],
    }
    known.set(rule, found)
  }
  return found
}
