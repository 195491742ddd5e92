// The differences between the programs for which a folder of pages can be made.
import type { ExtraSyntax } from '../../extra-syntax.ts'

/** The program that reads the pages. */
export type Flavor = keyof typeof FLAVORS

/** How the pages are written for one program. */
export interface FlavorRules {
  /** The name of the root page, without its extension. */
  readonly index: string
  /**
   * The location of a page with sub-pages: `beside` their folder, with the folder's name, or
   * `inside` it with the index's name.
   */
  readonly parents: 'beside' | 'inside'
  /**
   * How titles become file names: every character that file systems allow; the same with `-` for
   * spaces; or only letters, digits, `-`, `_` and `.`.
   */
  readonly names: 'spaces' | 'dashes' | 'letters'
  /** The folder for assets. */
  readonly assets: string
  /** The syntax of a link to a page. */
  readonly links: 'markdown' | 'wiki'
  /** How an address names a heading: by GitHub's slug, or by the heading's text. */
  readonly anchors: 'slug' | 'text'
  /** The syntax of a callout. */
  readonly callouts: 'quote' | 'alert' | 'admonition'
  /** Whether a page's properties are fields of the front matter, or of its field `properties`. */
  readonly properties: 'fields' | 'nested'
  /** The field of the front matter for a page's id. */
  readonly id: string
  /** Whether the program is GitHub, which sees no equation beside a letter or a digit. */
  readonly isGitHub: boolean
  /** Whether the front matter has the page's position in a sidebar and its address. */
  readonly isSite: boolean
}

/** TABLE of the flavors. */
export const FLAVORS = {
  gfm: {
    index: 'README',
    parents: 'beside',
    names: 'dashes',
    assets: 'assets',
    links: 'markdown',
    anchors: 'slug',
    callouts: 'quote',
    properties: 'nested',
    id: 'id',
    isGitHub: true,
    isSite: false,
  },
  obsidian: {
    index: 'Index',
    parents: 'beside',
    names: 'spaces',
    assets: 'assets',
    links: 'wiki',
    anchors: 'text',
    callouts: 'alert',
    properties: 'fields',
    id: 'notion_id',
    isGitHub: false,
    isSite: false,
  },
  // Docusaurus omits folders whose name begins with `_` from a site.
  docusaurus: {
    index: 'index',
    parents: 'inside',
    names: 'letters',
    assets: '_assets',
    links: 'markdown',
    anchors: 'slug',
    callouts: 'admonition',
    properties: 'nested',
    id: 'id',
    isGitHub: false,
    isSite: true,
  },
} as const satisfies Record<string, FlavorRules>

/** The syntax that a flavor's program supports in addition to CommonMark, GFM and math. */
export const syntaxOf = ({ links, callouts, isSite, isGitHub }: FlavorRules): ExtraSyntax => ({
  obsidian: links === 'wiki',
  directives: callouts === 'admonition',
  headingIds: isSite,
  lonelyMath: isGitHub,
})

/** The flavors' names. */
export const FLAVOR_NAMES = ['gfm', 'obsidian', 'docusaurus'] as const satisfies readonly Flavor[]
