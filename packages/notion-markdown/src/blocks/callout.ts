// Callouts: `<figure class="callout">`, and since 2026 `<aside>`.
import { attribute, find, hasClass, iconText, takeUntil, type Element } from '../html.ts'
import { calloutOf } from '../callout-syntax.ts'
import type { Flow } from '../flow.ts'
import type { Inline } from '../tree.ts'

/** A callout becomes a quote that begins with its icon. */
export function readCallout(element: Element, flow: Flow): void {
  const frame =
    find(
      element,
      1,
      (part) => part.name === 'div' && (attribute(part, 'style') ?? '').includes('font-size'),
    ) ?? iconOnly(element)
  // A frame without an end tag also contains the callout's text.
  const shown = frame ? takeUntil(frame, (child) => child.name === 'div') : []
  const icon = (
    shown.map(iconText).join('') || (frame && hasClass(frame, 'icon') ? iconText(frame) : '')
  ).trim()
  const children = flow.inside(
    element.children.flatMap((node) => (node === frame ? frame.children : [node])),
  )
  if (icon !== '') {
    const [first] = children
    const isLead = first?.type === 'paragraph' && first.children[0]?.type !== 'image'
    const text: Inline = { type: 'text', value: isLead ? `${icon} ` : icon }
    if (frame) flow.section.positions?.place(text, flow.section.positions.ofElement(frame))
    if (isLead) first.children = [text, ...first.children]
    else children.unshift({ type: 'paragraph', children: [text] })
  }
  const style = flow.links.callouts
  const callout = style && { callout: calloutOf(style, icon, children) }
  if (children.length > 0) flow.add({ type: 'blockquote', ...callout, children })
}

/** The first child, if it contains only an icon: exporters of 2026 give its frame no size. */
function iconOnly(element: Element): Element | undefined {
  const first = element.children.find((node) => typeof node !== 'string' || node.trim() !== '')
  if (first === undefined || typeof first === 'string' || !['div', 'span'].includes(first.name))
    return undefined
  const icon = hasClass(first, 'icon') ? first : find(first, 3, (below) => hasClass(below, 'icon'))
  return icon !== undefined &&
    iconText(icon).trim() === iconText(first).trim() &&
    first.children.length <= 1
    ? first
    : undefined
}
