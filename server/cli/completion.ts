// Shell completion: generates scripts from the table of commands.
import type { Command } from './command.ts'

interface Words {
  /** The words that can follow, by the words before: "", "keys", "keys create". */
  readonly next: ReadonlyMap<string, readonly string[]>
}

/** TABLE of shells and the functions that generate their scripts. */
export const SHELLS: Readonly<Record<string, (commands: readonly Command[]) => string>> = {
  bash: (commands) => bash(wordsOf(commands)),
  zsh: (commands) =>
    `#compdef tollmark\nautoload -U +X bashcompinit && bashcompinit\n${bash(wordsOf(commands))}`,
  fish: (commands) => fish(commands),
}

function wordsOf(commands: readonly Command[]): Words {
  const next = new Map<string, string[]>()
  const add = (before: string, word: string): void => {
    const known = next.get(before) ?? []
    if (!known.includes(word)) next.set(before, [...known, word])
  }
  for (const { name, options } of commands) {
    const [group = '', word] = name.split(' ')
    add('', group)
    if (word !== undefined) add(group, word)
    for (const { flags } of options) add(name, longFlag(flags))
  }
  return { next }
}

/** `-o, --output <path>` is `--output`. */
function longFlag(flags: string): string {
  return /--[\w-]+/.exec(flags)?.[0] ?? flags
}

function bash({ next }: Words): string {
  const cases = [...next].map(([before, words]) => `    '${before}') words='${words.join(' ')}' ;;`)
  return `_tollmark() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path='' words='' i
  for ((i = 1; i < COMP_CWORD && i < 3; i++)); do
    case "\${COMP_WORDS[i]}" in -*) break ;; esac
    path="\${path:+$path }\${COMP_WORDS[i]}"
  done
  case "$path" in
${cases.join('\n')}
    *) path="\${path%% *}"
       case "$path" in
${cases
  .filter((one) => !/^ +'[^']* /.test(one))
  .map((one) => `   ${one}`)
  .join('\n')}
       esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))
}
complete -F _tollmark tollmark
`
}

function fish(commands: readonly Command[]): string {
  const groups = new Set(commands.map(({ name }) => name.replace(/ .*$/, '')))
  const lines = [...groups].map((group) => {
    const alone = commands.find(({ name }) => name === group)
    return `complete -c tollmark -n __fish_use_subcommand -a ${group}${alone ? ` -d ${quoted(alone.summary)}` : ''}`
  })
  for (const { name, summary, options } of commands) {
    const [group = '', word] = name.split(' ')
    const siblings = commands.flatMap((one) =>
      one.name.startsWith(`${group} `) ? [one.name.slice(group.length + 1)] : [],
    )
    if (word !== undefined) {
      const first = `__fish_seen_subcommand_from ${group}; and not __fish_seen_subcommand_from ${siblings.join(' ')}`
      lines.push(`complete -c tollmark -n ${quoted(first)} -f -a ${word} -d ${quoted(summary)}`)
    }
    const here = `__fish_seen_subcommand_from ${group}${word === undefined ? '' : `; and __fish_seen_subcommand_from ${word}`}`
    for (const option of options) {
      const takes = /[<[]/.test(option.flags) ? ' -r' : ''
      lines.push(
        `complete -c tollmark -n ${quoted(here)} -l ${longFlag(option.flags).slice(2)}${takes} -d ${quoted(option.summary)}`,
      )
    }
  }
  return `${lines.join('\n')}\n`
}

/** Quotes a word for fish. */
function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`
}
