// A document may skip heading levels. It looks as written, but screen readers get levels without
// gaps.
interface Node {
  type: string
  tagName?: string
  properties?: Record<string, unknown>
  children?: Node[]
}

/** The level of the heading above the preview. */
const ABOVE = 2

/** A rehype plugin: sets `aria-level` on headings after a skipped level. */
export function headingLevels(): (tree: Node) => void {
  return (tree) => {
    let before = ABOVE
    const visit = (node: Node): void => {
      const level = Number(/^h([1-6])$/.exec(node.tagName ?? '')?.[1] ?? 0)
      if (level > 0) {
        before = Math.min(level, before + 1)
        if (before !== level) node.properties = { ...node.properties, ariaLevel: before }
      }
      for (const child of node.children ?? []) visit(child)
    }
    visit(tree)
  }
}
