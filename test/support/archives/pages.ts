import { type EntrySpec } from './writer.ts'

const id = (n: number) => n.toString(16).padStart(32, '0')

/** A small page as Notion writes it. */
export function pageHtml(title: string, body = ''): string {
  return (
    `<html><head><meta http-equiv="Content-Type" content="text/html; charset=utf-8"/><title>${title}</title></head><body>` +
    `<article id="${id(title.length)}" class="page sans"><header><h1 class="page-title">${title}</h1></header>` +
    `<div class="page-body">${body}</div></article></body></html>`
  )
}

/** The paths of the entries below: a page, its sub-page, an image. */
export const HOME = `Home ${id(1)}.html`
export const CHILD = `Home ${id(1)}/Child ${id(2)}.html`
export const IMAGE = `Home ${id(1)}/image.png`

export function someEntries(): [EntrySpec, EntrySpec, EntrySpec] {
  return [
    {
      name: HOME,
      data: pageHtml(
        'Home',
        `<figure class="link-to-page"><a href="${encodeURI(CHILD)}">Child</a></figure>`,
      ),
    },
    { name: CHILD, data: pageHtml('Child', '<p>Some words.</p>'.repeat(20)) },
    { name: IMAGE, data: Uint8Array.from({ length: 500 }, (_, i) => (i * 89) % 251), stored: true },
  ]
}

/** The sitemap of a workspace export. */
export function sitemapHtml(...hrefs: string[]): string {
  const items = hrefs.map(
    (href) => `<li><ul id="id::${id(3)}"><a href="${href}">${href}</a></ul></li>`,
  )
  return `<!DOCTYPE html><html><head>\n\t<title>Export-x</title>\n</head>\n<body>\n<ul id="id::${id(4)}">${items.join('')}</ul></body></html>`
}
