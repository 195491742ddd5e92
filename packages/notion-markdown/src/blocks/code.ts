import { attribute, find, type Element } from '../html.ts'
import type { Flow } from '../flow.ts'

/** TABLE: Notion's display names whose usual Markdown name is not their lower-case form with `-` for spaces. */
const LANGUAGE = new Map([
  ['Plain Text', ''],
  ['C++', 'cpp'],
  ['C#', 'csharp'],
  ['F#', 'fsharp'],
  ['Java/C/C++/C#', 'java'],
  ['Objective-C', 'objectivec'],
  ['Visual Basic', 'vb'],
  ['VB.Net', 'vbnet'],
  ['ASCII Art', 'text'],
  ['LLVM IR', 'llvm'],
  ['Notion Formula', 'text'],
  ['Protobuf', 'protobuf'],
  ['Shell', 'sh'],
  ['WebAssembly', 'wasm'],
])

/** `<pre>`: its text byte for byte, in its language. */
export function readCode(element: Element, flow: Flow): void {
  const code = find(element, 1, (child) => child.name === 'code')
  // The class is the display name behind `language-`, its spaces included; E1–E3 exports name no language.
  const name = /(?:^|\s)language-(.+)$/s.exec((code ? attribute(code, 'class') : undefined) ?? '')?.[1]?.trim() ?? ''
  const lang = LANGUAGE.get(name) ?? name.toLowerCase().replace(/[\s`~]+/g, '-')
  flow.add({ type: 'code', lang: lang === '' ? null : lang, value: codeText(element) })
}

/** The text of code, where a `<br>` is a line end. */
function codeText(element: Element): string {
  let text = ''
  for (const child of element.children) {
    if (typeof child === 'string') text += child
    else text += child.name === 'br' ? '\n' : codeText(child)
  }
  return text
}
