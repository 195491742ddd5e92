// Ids as providers make them, in every spelling that a server could decode to them; and strings
// that are none.
import { OPENAI_PREFIXES } from '../../../server/proxy/providers/id-spelling.ts'
import { PROVIDERS } from '../../../server/proxy/providers/rows/index.ts'
import { seeded } from '../../support/random.ts'

/** A whole number below `n`, the same at every run. */
export type Draw = (n: number) => number

export function drawing(seed: number): Draw {
  const chance = seeded(seed)
  return (n) => Math.floor(chance() * n)
}

export const pick = <T>(draw: Draw, from: readonly T[]): T => from[draw(from.length)]!

const letters = (draw: Draw, alphabet: string, length: number): string =>
  Array.from({ length }, () => alphabet[draw(alphabet.length)]).join('')
const hex = (draw: Draw, length: number): string => letters(draw, '0123456789abcdef', length)
const uuid = (draw: Draw): string => [8, 4, 4, 4, 12].map((length) => hex(draw, length)).join('-')

/** An object that a provider has made. */
export interface Made {
  readonly kind: string
  /** As the provider names it. */
  readonly id: string
  /** As the provider's responses write it. */
  readonly written: string
  /** Strings that name it. */
  readonly spelled: readonly string[]
}

/** Providers whose ids have a form; others are known by their places alone. */
export const SPELLED = PROVIDERS.filter(
  ({ spelling }) =>
    spelling === undefined ||
    spelling.uuids === true ||
    Object.keys({ ...spelling.prefixes, ...spelling.collections }).length > 0,
)

/** An object of a provider, of any kind, with everything that spells it. */
export function madeAt(provider: string, draw: Draw): Made {
  const row = PROVIDERS.find(({ id }) => id === provider)!
  const {
    prefixes: own = {},
    collections = {},
    uuids = false,
    dialect,
  } = row.spelling ?? { prefixes: OPENAI_PREFIXES, uuids: true }
  const prefixes = dialect === true ? { ...OPENAI_PREFIXES, ...own } : own
  const host = row.hosts[0]!.replaceAll(/\{\w+\}|<\w+>|\*/g, 'acme')
  const ways = [
    ...Object.entries(prefixes).map((entry) => ['prefix', ...entry] as const),
    ...Object.entries(collections).map((entry) => ['collection', ...entry] as const),
    ...(uuids ? [['uuid', '', 'file'] as const] : []),
  ]
  const [way, name, kind] = pick(draw, ways)
  if (way === 'collection') {
    const id = letters(draw, '0123456789abcdefghijklmnopqrstuvwxyz', 12)
    const written = `${name}/${id}`
    const path = `v1beta/${written}`
    const verb = pick(draw, ['', ':download', ':generateContent'])
    return {
      kind,
      id,
      written,
      spelled: [
        ...decorated(draw, written),
        ...decorated(draw, path),
        ...['https://', 'http://', 'HTTPS://', '//'].flatMap((scheme) =>
          decorated(draw, `${scheme}${host}/${path}${verb}`),
        ),
        `https://${host}:443/${path}?alt=media`,
      ],
    }
  }
  const id =
    way === 'uuid'
      ? uuid(draw)
      : name === 'ft:'
        ? `ft:base-1:acme::${hex(draw, 8)}`
        : `${name}${pick(draw, [() => letters(draw, '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ', 24), () => hex(draw, 48)])()}`
  const forms =
    way === 'uuid'
      ? [
          id,
          id.toUpperCase(),
          id.replaceAll('-', ''),
          `{${id}}`,
          `urn:uuid:${id}`,
          `({${id.replaceAll('-', '')}})`,
        ]
      : [id]
  return {
    kind,
    id,
    written: id,
    spelled: [
      ...forms.flatMap((form) => decorated(draw, form)),
      ...decorated(draw, `v1/things/${id}`),
      `https://${host}/v1/things/${id}/content`,
    ],
  }
}

/**
 * A string, and how it can be written besides: escaped, escaped twice, with slashes or spaces at
 * its ends.
 */
function decorated(draw: Draw, text: string): string[] {
  const at = draw(text.length)
  const escape = (byte: string): string => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`
  const escaped = text.slice(0, at) + escape(text[at]!) + text.slice(at + 1)
  return [
    text,
    escaped,
    escaped.replace('%', '%25'),
    encodeURIComponent(text),
    `${text}/`,
    ` ${text}`,
    `${text}\n`,
  ]
}

/** Words that callers choose as names, too. */
export const NAMES = [
  'user',
  'text',
  'model',
  'file',
  'files',
  'system',
  'default',
  'main',
  'test',
  'data',
]
const WORDS = [
  'function',
  'file_search',
  'input_text',
  'batch_size',
  'message',
  'assistant',
  'file-upload',
  'voice_id',
  'src/files/user',
  'files/readme',
  'agents/planner',
  'docs/batches',
  'json_object',
  'msg_1',
  'rs_text',
  'resp_ok',
  'https://example.com/files/user',
  'https://www.youtube.com/watch?v=user',
  'gs://cloud-samples-data/files/user',
  'auto',
  'high',
  'en-US',
  'ft: none',
  'gemini-2.5-flash',
  'gpt-5',
  'file_reader',
  'video_editor',
  'thread_pool',
  'skill_check',
]

/**
 * A string of an ordinary body: a word, a sentence that mentions an id, code, a tool call's id, a
 * number of letters.
 */
export function ordinary(draw: Draw): string {
  const { id, written } = madeAt(pick(draw, SPELLED).id, draw)
  const sentences = [
    `Please read ${id} and tell me more.`,
    `Error: no such object: ${written}`,
    `const file = '${id}'`,
    `{"file_id": "${id}"}`,
    `- ${written}\n- other`,
    `<file id="${id}"/>`,
    `${id}, ${written}`,
  ]
  return pick(draw, [
    () => pick(draw, NAMES),
    () => pick(draw, WORDS),
    () => pick(draw, sentences),
    () => `call_${hex(draw, 24)}`,
    () => `toolu_${hex(draw, 24)}`,
    () => uuid(draw),
    () => letters(draw, 'abcdefghijklmnopqrstuvwxyz ', 1 + draw(60)),
  ])()
}
