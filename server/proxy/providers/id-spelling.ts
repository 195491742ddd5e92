// The form of a provider's ids: as its row declares it, and compiled.
import type { StringFilter } from '../json/tables.ts'
import { ITEM } from '../objects/item-ranges.ts'
import type { ObjectRef } from './object-ref.ts'

/** How a provider's ids are spelled: a part of its row. */
export interface Spelling {
  /** The kinds of ids by their beginning, up to the first `-`, `_` or `:`. */
  readonly prefixes?: Readonly<Record<string, string>>
  /**
   * The kinds of resource names by their collection. Collections with a capital letter do not occur
   * in prose.
   */
  readonly collections?: Readonly<Record<string, string>>
  readonly uuids?: boolean
  /** Whether ids may be numbers, which count only if they are known to be ids. */
  readonly digits?: true
  /** Whether ids are 20 letters and digits, without a prefix. */
  readonly bare?: true
  /** The kinds of ids by the scheme of an address that lists them, separated by commas. */
  readonly schemes?: Readonly<Record<string, string>>
  /**
   * Whether OpenAI's prefixes may occur, too. The provider's documentation does not show them, so
   * such a string counts only if it is a known id.
   */
  readonly dialect?: true
  /** Whether its requests may name the operator's cloud resources: buckets, secrets. */
  readonly clouds?: true
  readonly models?: ModelNames
}

/**
 * The form of stored models' names: fine-tuned ones, presets. They count at the place of a
 * request's model.
 */
export interface ModelNames {
  readonly kinds: readonly string[]
  /** The stored object that a name refers to; none if it is one of the provider's models. */
  refsOf(name: string): readonly ObjectRef[]
}

/** The compiled spelling of a provider's ids: which strings of a body are ids. */
export interface IdForms extends StringFilter {
  /** The object that a whole, decoded string names; null if it is not an id. */
  refOf(text: string): ObjectRef | null
  /** Ids without a prefix, of letters and digits only, if they all have the same length. */
  readonly bare?: RegExp
  /**
   * The objects in a list of addresses with one of the provider's schemes; null for other texts.
   */
  listed?(text: string): readonly ObjectRef[] | null
  /** The objects named by a model's name. */
  readonly models?: ModelNames
}

/** The prefixes of OpenAI's ids: https://platform.openai.com/docs/api-reference */
export const OPENAI_PREFIXES: Readonly<Record<string, string>> = {
  'file-': 'file',
  file_: 'file',
  'assistant-': 'file',
  resp_: 'response',
  conv_: 'conversation',
  batch_: 'batch',
  vs_: 'vector_store',
  cntr_: 'container',
  asst_: 'assistant',
  thread_: 'thread',
  'ftjob-': 'fine_tuning_job',
  'ft:': 'tuned_model',
  upload_: 'upload',
  part_: 'upload_part',
  video_: 'video',
  'chatcmpl-': 'completion',
  eval_: 'eval',
  skill_: 'skill',
  voice_: 'voice',
  cons_: 'voice_consent',
  char_: 'character',
  pmpt_: 'prompt',
  wf_: 'workflow',
  // Items of responses: https://platform.openai.com/docs/api-reference/responses/object
  msg_: ITEM,
  rs_: ITEM,
  fc_: ITEM,
  fco_: ITEM,
  ws_: ITEM,
  fs_: ITEM,
  ci_: ITEM,
  ig_: ITEM,
  cu_: ITEM,
  cuo_: ITEM,
  mcp_: ITEM,
  mcpl_: ITEM,
  mcpr_: ITEM,
  ctc_: ITEM,
  cto_: ITEM,
  lsh_: ITEM,
  sh_: ITEM,
  sho_: ITEM,
  apc_: ITEM,
  apco_: ITEM,
  cmp_: ITEM,
  tsc_: ITEM,
  tso_: ITEM,
}
