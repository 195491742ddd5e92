import { attribute, find, type Element } from '../html.ts'
import type { Flow } from '../flow.ts'

/**
 * TABLE of Notion's names, in lower case, whose usual Markdown name is not the same with `-` for
 * spaces.
 */
const LANGUAGE = new Map([
  ['plain text', ''],
  ['c++', 'cpp'],
  ['c#', 'csharp'],
  ['f#', 'fsharp'],
  ['java/c/c++/c#', 'java'],
  ['objective-c', 'objectivec'],
  ['visual basic', 'vb'],
  ['vb.net', 'vbnet'],
  ['ascii art', 'text'],
  ['llvm ir', 'llvm'],
  ['notion formula', 'text'],
  ['shell', 'sh'],
  ['webassembly', 'wasm'],
])

/** `<pre>`: its text byte for byte, in its language. */
export function readCode(element: Element, flow: Flow): void {
  const code = find(element, 1, (child) => child.name === 'code')
  // The class is the name after `language-`, including its spaces: capitalized as in Notion, or in
  // lower case as in programs. Some exporters name no language.
  const name =
    /(?:^|\s)language-(.+)$/s
      .exec((code ? attribute(code, 'class') : undefined) ?? '')?.[1]
      ?.trim()
      .toLowerCase() ?? ''
  const lang = LANGUAGE.get(name) ?? name.replace(/[\s`~]+/g, '-')
  flow.add({ type: 'code', lang: lang === '' ? null : lang, value: codeText(element) })
}

/** The text of code, in which a `<br>` is a line end. */
function codeText(element: Element): string {
  let text = ''
  for (const child of element.children) {
    if (typeof child === 'string') text += child
    else text += child.name === 'br' ? '\n' : codeText(child)
  }
  return text
}
