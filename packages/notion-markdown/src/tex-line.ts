// TeX in the middle of a line.

/** TeX on one line, without spaces at its ends (except for one that a final backslash escapes). */
export function texLine(source: string): string {
  const tex = source.includes('\n') ? withoutComments(source).replace(/\s*\n\s*/g, ' ') : source
  const trimmed = tex.trim()
  return /(?:^|[^\\])(?:\\\\)*\\$/.test(trimmed) ? `${trimmed} ` : trimmed
}

/**
 * TeX without comments to the end of a line: on one line they would extend over the text after
 * them.
 */
function withoutComments(tex: string): string {
  return tex.includes('%')
    ? tex.replace(/\\[^]|%[^\n]*\n/g, (found) => (found.startsWith('%') ? '\n' : found))
    : tex
}
