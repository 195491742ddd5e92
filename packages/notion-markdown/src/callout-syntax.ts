// The callout syntax of Obsidian and Docusaurus. Everywhere else, a callout is a plain quote.
import type { Block, Callout, CalloutStyle } from './tree.ts'

/** TABLE of the icons that mean more than a note. */
const KINDS: Readonly<Record<string, Callout['kind']>> = {
  '💡': 'tip',
  '✅': 'tip',
  '👍': 'tip',
  '⚠': 'warning',
  '🚧': 'warning',
  '❗': 'danger',
  '‼': 'danger',
  '🚨': 'danger',
  '🛑': 'danger',
  '⛔': 'danger',
  '🚫': 'danger',
  '🔥': 'danger',
}

/** A callout with this icon around these blocks. */
export function calloutOf(style: CalloutStyle, icon: string, children: readonly Block[]): Callout {
  return { style, kind: KINDS[icon.replaceAll('\ufe0f', '')] ?? 'note', inside: nestedIn(children) }
}

/** How deep callouts are nested in blocks. Each block is visited only by the nearest callout. */
function nestedIn(blocks: readonly Block[]): number {
  let most = 0
  const open = [...blocks]
  for (let block = open.pop(); block; block = open.pop()) {
    if (block.type === 'blockquote' && block.callout)
      most = Math.max(most, block.callout.inside + 1)
    else if (block.type === 'list') for (const item of block.children) open.push(...item.children)
    else if (block.type === 'blockquote' || block.type === 'details') open.push(...block.children)
  }
  return most
}

/** The line that begins a callout. */
export function calloutStart({ style, kind, inside }: Callout): string {
  return style === 'alert' ? `[!${kind}]` : `${':'.repeat(3 + inside)}${kind}`
}
