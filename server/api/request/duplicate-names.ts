// Checks the names in JSON: how many there are, and whether one is there twice. JSON.parse keeps
// the last of two members with one name and other parsers the first, so such a body is ambiguous
// (RFC 8259, section 4).

/** Names in one body. No route has a tenth as many, and thousands take ten milliseconds. */
const MAX_NAMES = 1_000

/** Whether a text has more names than any body needs. The text need not be JSON. */
export function hasTooManyNames(text: string): boolean {
  let names = 0
  for (const _ of text.matchAll(/"\s*:/g)) if (++names > MAX_NAMES) return true
  return false
}

/** Strings and structural characters. The text is valid JSON, so nothing else matters. */
const TOKEN = /"(?:[^"\\]+|\\.)*"|[{}[\],:]/g

/**
 * The first duplicate name as a dotted path without list positions, or null.
 *
 * @param text JSON that JSON.parse has accepted
 */
export function duplicateName(text: string): string | null {
  // An object's names, or null for a list.
  const open: { names: Set<string> | null; name: string }[] = []
  let last = ''
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{') open.push({ names: new Set(), name: '' })
    else if (token === '[') open.push({ names: null, name: '' })
    else if (token === '}' || token === ']') open.pop()
    else if (token === ':') {
      const object = open.at(-1)
      if (!object?.names) continue
      object.name = String(JSON.parse(last))
      if (object.names.has(object.name))
        return open
          .map(({ name }) => name)
          .filter((name) => name !== '')
          .join('.')
      object.names.add(object.name)
    } else last = token
  }
  return null
}
