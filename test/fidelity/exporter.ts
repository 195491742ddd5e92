// Prints a tree of Notion blocks as the exporter would have, in the manner of each of its eras.

/**
 * 1: 2019 to 2020 · 2: 2021 to 2022 · 3: 2023 · 4: 2024 to mid 2025 · 5: late 2025 to early 2026 ·
 * 6: since mid 2026
 */
export type Era = 1 | 2 | 3 | 4 | 5 | 6
export const ERAS: readonly Era[] = [1, 2, 3, 4, 5, 6]

export type InlineMark = 'strong' | 'em' | 'del' | 'code' | 'underline' | 'colour' | 'background'

export type Inline =
  | { kind: 'text'; text: string; marks?: readonly InlineMark[]; href?: string }
  | { kind: 'equation'; tex: string; marks?: readonly InlineMark[]; href?: string }
  | { kind: 'user'; name: string }
  | { kind: 'date'; text: string }
  | { kind: 'page'; title: string; href: string; icon?: string }
  | { kind: 'break' }

export type Block =
  | {
      kind: 'paragraph' | 'quote' | 'bullet' | 'toggle'
      text: readonly Inline[]
      children: readonly Block[]
    }
  | {
      kind: 'number'
      text: readonly Inline[]
      children: readonly Block[]
      /** a new list begins here, at this number */ restart?: number
    }
  | { kind: 'todo'; text: readonly Inline[]; checked: boolean; children: readonly Block[] }
  | { kind: 'callout'; icon: string; text: readonly Inline[]; children: readonly Block[] }
  | { kind: 'heading'; level: 1 | 2 | 3 | 4; text: readonly Inline[] }
  | { kind: 'toggleHeading'; level: 1 | 2 | 3; text: readonly Inline[]; children: readonly Block[] }
  | { kind: 'code'; language: string; text: string }
  | { kind: 'equation'; tex: string }
  | { kind: 'divider' | 'empty' }
  | { kind: 'image'; src: string; caption: readonly Inline[] }
  | {
      kind: 'file'
      href: string
      label: string
      caption: readonly Inline[]
      /** a link preview, which has no link */ isBare?: boolean
    }
  | {
      kind: 'bookmark'
      href: string
      title: string
      description: string
      caption: readonly Inline[]
    }
  | { kind: 'contents'; entries: readonly { text: string; indent: number }[] }
  | { kind: 'pageLink'; href: string; title: string; icon: string }
  | { kind: 'columns'; columns: readonly (readonly Block[])[] }
  | { kind: 'synced'; children: readonly Block[] }
  | {
      kind: 'table'
      header: boolean
      /** the first column is a header, too */ column?: boolean
      rows: readonly (readonly (readonly Inline[])[])[]
    }
  | {
      kind: 'database'
      title: string
      rows: readonly {
        title: string
        tags: readonly string[]
        done: boolean
        date: string
        note: readonly Inline[]
        values: Values
      }[]
    }

/** What the columns and properties of each type hold, but for text. */
export interface Values {
  status: string
  people: readonly string[]
  files: readonly { href: string; label: string }[]
  mail: string
  phone: string
  url: string
  number: string
}

export type PropertyType =
  | 'text'
  | 'multi_select'
  | 'checkbox'
  | 'date'
  | 'status'
  | 'person'
  | 'file'
  | 'email'
  | 'phone_number'
  | 'url'
  | 'number'

export interface Page {
  title: readonly Inline[]
  icon: string
  description: string
  properties: readonly {
    name: string
    type: PropertyType
    text: readonly Inline[]
    values: readonly string[]
    of: Values
  }[]
  blocks: readonly Block[]
}

/** Escapes text as the exporter does. */
function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#x27;')
}

/** TABLE: mark → tags around. */
const TAGS: Record<InlineMark, [string, string]> = {
  strong: ['<strong>', '</strong>'],
  em: ['<em>', '</em>'],
  del: ['<del>', '</del>'],
  code: ['<code>', '</code>'],
  underline: ['<span style="border-bottom:0.05em solid">', '</span>'],
  colour: ['<mark class="highlight-red">', '</mark>'],
  background: ['<mark class="highlight-yellow_background">', '</mark>'],
}

const SIZES = { 1: '1.875em', 2: '1.5em', 3: '1.25em' }

/** A page of the given era. */
export function printPage(page: Page, era: Era): string {
  return new Printer(era).page(page)
}

class Printer {
  #era: Era
  #ids = 0

  constructor(era: Era) {
    this.#era = era
  }

  page({ title, icon, description, properties, blocks }: Page): string {
    const dir = this.#era >= 5 ? ' dir="auto"' : ''
    const head = `<html><head><meta http-equiv="Content-Type" content="text/html; charset=utf-8"/><title>${escape(title.map(plain).join(''))}</title><style>\n/* ${this.#era > 1 ? 'cspell:disable-file' : 'styles'} */\nbody { white-space: pre-wrap; }\n</style></head>`
    const iconHtml = icon ? `<div class="page-header-icon undefined">${this.#icon(icon)}</div>` : ''
    const about =
      this.#era >= 3 ? `<p class="page-description"${dir}>${escape(description)}</p>` : ''
    const rows = properties.map(({ name, type, text, values, of }) => {
      const value = {
        ...this.#values(of),
        text: () => this.inline(text),
        multi_select: () => values.map(pill).join(''),
        checkbox: () => this.#box(values.length % 2 === 1),
        date: () => this.#date(`March ${values.length + 1}, 2024`),
      }[type]()
      return `<tr class="property-row property-row-${type}"><th><span class="icon property-icon"><svg viewBox="0 0 16 16" class="typesText"><path d="M1 2"></path></svg></span>${escape(name)}</th><td>${value}</td></tr>`
    })
    const table =
      rows.length > 0 ? `<table class="properties"><tbody>${rows.join('')}</tbody></table>` : ''
    const end =
      this.#era >= 4 ? '<span class="sans" style="font-size:14px;padding-top:2em"></span>' : ''
    return `${head}<body><article id="${this.#id()}" class="page sans"><header>${iconHtml}<h1 class="page-title"${dir}>${this.inline(title)}</h1>${about}${table}</header><div class="page-body">${this.blocks(blocks, 0)}</div></article>${end}</body></html>`
  }

  blocks(blocks: readonly Block[], depth: number): string {
    let number = 0
    return blocks
      .map((block) => {
        number = block.kind === 'number' ? (block.restart ?? number + 1) : 0
        const html = this.#block(block, depth, number)
        return this.#era === 5
          ? `<div style="display:contents" dir="${block.kind === 'image' ? 'ltr' : 'auto'}">${html}</div>`
          : html
      })
      .join('')
  }

  /** An emoji, which its element holds, or since the sixth era only its attribute. */
  #icon(emoji: string): string {
    return this.#era >= 6
      ? `<span class="icon" data-emoji="${escape(emoji)}"></span>`
      : `<span class="icon">${escape(emoji)}</span>`
  }

  #box(on: boolean): string {
    const state = `class="checkbox checkbox-${on ? 'on' : 'off'}"`
    return this.#era >= 6
      ? `<input type="checkbox" ${state} disabled=""${on ? ' checked=""' : ''}/>`
      : `<div ${state}></div>`
  }

  /** Since the sixth era a date has its value beside its text. */
  #date(text: string): string {
    return `<time${this.#era >= 6 ? ' datetime="2024-03-01"' : ''}>@${escape(text)}</time>`
  }

  /** TABLE: type → what its cell holds. */
  #values({
    status,
    people,
    files,
    mail,
    phone,
    url,
    number,
  }: Values): Record<
    'status' | 'person' | 'file' | 'email' | 'phone_number' | 'url' | 'number',
    () => string
  > {
    const link = (href: string, text: string) =>
      text === '' ? '' : `<a href="${escape(href)}" class="url-value">${escape(text)}</a>`
    return {
      status: () =>
        status === ''
          ? ''
          : `<span class="status-value"><div class="status-dot"></div>${escape(status)}</span>`,
      person: () =>
        people
          .map(
            (name) =>
              `<span class="user"><span class="icon text-icon user-icon"><span class="user-icon-inner">O</span></span>${escape(name)}</span>`,
          )
          .join(''),
      file: () =>
        files
          .map(
            ({ href, label }) =>
              `<span style="margin-right:6px"><a href="${escape(href)}">${escape(label)}</a></span>`,
          )
          .join(''),
      email: () => link(mail, mail),
      phone_number: () => link(phone, phone),
      url: () => link(url, url),
      number: () => escape(number),
    }
  }

  /**
   * A block's colour, and since the sixth era its direction, now and then; neither says anything.
   */
  #look(classes = ''): string {
    const color =
      this.#ids % 5 === 0
        ? ['block-color-gray', 'block-color-yellow_background'][this.#ids % 2]!
        : ''
    const direction = this.#era >= 6 && this.#ids % 4 === 0 ? ' dir="rtl"' : ''
    return `class="${[color, classes].filter(Boolean).join(' ')}"${direction}`
  }

  #id(): string {
    return `00000000-0000-4000-8000-${(this.#ids++).toString(16).padStart(12, '0')}`
  }

  #block(block: Block, depth: number, number: number): string {
    const id = `id="${this.#id()}"`
    switch (block.kind) {
      case 'paragraph':
        return `<p ${id} ${this.#look()}>${this.inline(block.text)}${this.#indented(block.children, depth)}</p>`
      case 'empty':
        return `<p ${id} class="">\n</p>`
      case 'heading':
        return `<h${block.level} ${id} ${this.#look()}>${this.inline(block.text)}</h${block.level}>`
      case 'toggleHeading': {
        const style = `font-weight:600;font-size:${SIZES[block.level]};line-height:1.3${this.#era >= 4 ? ';margin:0' : ''}`
        const children = this.blocks(block.children, depth + 1)
        const title =
          this.#era >= 6
            ? `<h${block.level} style="display:inline-block">${this.inline(block.text)}</h${block.level}>`
            : this.inline(block.text)
        return `<details open=""><summary style="${style}">${title}</summary>${this.#era >= 4 ? `<div class="indented">${children}</div>` : children}</details>`
      }
      case 'quote':
        return `<blockquote ${id} ${this.#look()}>${this.inline(block.text)}${this.blocks(block.children, depth + 1)}</blockquote>`
      case 'divider':
        return `<hr ${id}/>`
      case 'callout': {
        const isFramed = this.#era < 6 || this.#ids % 2 === 0
        const icon =
          block.icon && isFramed
            ? `<div style="font-size:1.5em">${this.#icon(block.icon)}</div>`
            : block.icon && this.#icon(block.icon)
        const text =
          this.#era >= 4
            ? `<p ${id} class="">${this.inline(block.text)}</p>`
            : this.inline(block.text)
        const tag = this.#era >= 6 ? 'aside' : 'figure'
        return `<${tag} class="block-color-gray_background callout" style="white-space:pre-wrap;display:flex" ${id}>${icon}<div style="width:100%">${text}${this.blocks(block.children, depth + 1)}</div></${tag}>`
      }
      case 'bullet': {
        const style =
          this.#era >= 2
            ? ` style="list-style-type:${['disc', 'circle', 'square'][depth % 3]}"`
            : ''
        return `<ul ${id} ${this.#look('bulleted-list')}><li${style}>${this.inline(block.text)}${this.blocks(block.children, depth + 1)}</li></ul>`
      }
      case 'number':
        return `<ol type="${['1', 'a', 'i'][depth % 3]}" ${id} ${this.#look(`numbered-list${this.#era >= 6 ? ` numbered-list-digits-${String(number).length}` : ''}`)} start="${number}"><li>${this.inline(block.text)}${this.blocks(block.children, depth + 1)}</li></ol>`
      case 'todo': {
        const children = this.blocks(block.children, depth + 1)
        const box = `${this.#box(block.checked)} <span class="to-do-children-${block.checked ? '' : 'un'}checked">${this.inline(block.text)}</span>`
        return `<ul ${id} class="to-do-list"><li>${box}${this.#era >= 3 ? `<div class="indented">${children}</div>` : children}</li></ul>`
      }
      case 'toggle':
        if (this.#era >= 6)
          return `<details open="" class="toggle" ${id}><summary>${this.inline(block.text)}</summary><div class="indented">${this.blocks(block.children, depth + 1)}</div></details>`
        return `<ul ${id} class="toggle"><li><details open=""><summary>${this.inline(block.text)}</summary>${this.blocks(block.children, depth + 1)}</details></li></ul>`
      case 'code': {
        const prism =
          '<script src="https://example.com/prism.min.js" crossorigin="anonymous" referrerPolicy="no-referrer"></script><link rel="stylesheet" href="https://example.com/prism.min.css" crossorigin="anonymous"/>'
        const language = this.#era >= 4 ? ` class="language-${escape(block.language)}"` : ''
        return `${this.#era >= 4 ? prism : ''}<pre ${id} class="code"><code${language}>${escape(block.text)}</code></pre>`
      }
      case 'equation':
        return `<figure ${id} class="equation"${this.#era >= 6 ? ` data-notion-equation="${escape(block.tex)}"` : ''}><style>@import url('https://example.com/katex.min.css')</style><div class="equation-container"><span class="katex-display">${this.#katex(block.tex)}</span></div></figure>`
      case 'image':
        return `<figure ${id} class="image"><a href="${escape(block.src)}"><img style="width:240px" src="${escape(block.src)}"/></a>${this.#caption(block.caption)}</figure>`
      case 'file':
        return `<figure ${id}><div ${this.#look('source')}>${block.isBare ? escape(block.href) : `<a href="${escape(block.href)}">${escape(block.label)}</a>`}</div>${this.#caption(block.caption)}</figure>`
      case 'bookmark': {
        const description = block.description
          ? `<div class="bookmark-description">${escape(block.description)}</div>`
          : ''
        return `<figure ${id}><a href="${escape(block.href)}" class="bookmark source"><div class="bookmark-info"><div class="bookmark-text"><div class="bookmark-title">${escape(block.title)}</div>${description}</div><div class="bookmark-href"><img src="https://example.com/favicon.ico" class="icon bookmark-icon"/>${escape(block.href)}</div></div><img src="https://example.com/x.png" class="bookmark-image"/></a>${this.#caption(block.caption)}</figure>`
      }
      case 'pageLink':
        return `<figure ${id} class="link-to-page"><a href="${escape(block.href)}">${block.icon ? this.#icon(block.icon) : ''}${escape(block.title)}</a></figure>`
      case 'contents':
        return `<nav ${id} ${this.#look('table_of_contents')}>${block.entries.map(({ text, indent }) => `<div class="table_of_contents-item table_of_contents-indent-${indent}"><a class="table_of_contents-link" href="#nowhere">${escape(text)}</a></div>`).join('')}</nav>`
      case 'columns':
        return `<div ${id} class="column-list">${block.columns.map((column) => `<div id="${this.#id()}" style="width:50%" class="column">${this.blocks(column, depth)}</div>`).join('')}</div>`
      case 'synced':
        return `<div>${this.blocks(block.children, depth)}</div>`
      case 'table':
        return this.#table(block, id)
      case 'database':
        return this.#database(block, id)
    }
  }

  #indented(children: readonly Block[], depth: number): string {
    return children.length > 0 ? `<div class="indented">${this.blocks(children, depth)}</div>` : ''
  }

  /**
   * KaTeX's three copies of an equation, the TeX in the annotation; since the sixth era the drawing
   * alone.
   */
  #katex(tex: string): string {
    const text = escape(tex)
    const source = `<span class="katex-mathml"><math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mrow><mi>${text}</mi></mrow><annotation encoding="application/x-tex">${text}</annotation></semantics></math></span>`
    return `<span class="katex">${this.#era >= 6 ? '' : source}<span class="katex-html" aria-hidden="true"><span class="base"><span class="mord">${text}</span></span></span></span>`
  }

  #caption(caption: readonly Inline[]): string {
    return caption.length > 0 ? `<figcaption>${this.inline(caption)}</figcaption>` : ''
  }

  #table({ rows, header, column = false }: Extract<Block, { kind: 'table' }>, id: string): string {
    const wrap = (row: string) =>
      this.#era === 5 ? `<div style="display:contents" dir="ltr">${row}</div>` : row
    const cell = (content: readonly Inline[], isHead: boolean) => {
      const tag = isHead ? 'th' : 'td'
      return `<${tag} id="B;In" class="${isHead ? 'simple-table-header-color simple-table-header' : ''}">${this.inline(content)}</${tag}>`
    }
    const row = (cells: readonly (readonly Inline[])[], isHead: boolean) =>
      wrap(
        `<tr id="${this.#id()}">${cells.map((content, x) => cell(content, isHead || (column && x === 0))).join('')}</tr>`,
      )
    const head =
      header && rows[0] ? `<thead class="simple-table-header">${row(rows[0], true)}</thead>` : ''
    return `<table ${id} class="simple-table">${head}<tbody>${rows
      .slice(header ? 1 : 0)
      .map((cells) => row(cells, false))
      .join('')}</tbody></table>`
  }

  #database({ title, rows }: Extract<Block, { kind: 'database' }>, id: string): string {
    const columns = {
      Name: ['Title', 'font'],
      Tags: ['MultipleSelect', 'list'],
      Done: ['Checkbox', 'checkmark-square'],
      Date: ['Date', 'calendar'],
      Note: ['Text', 'description'],
      State: ['Status', 'status'],
      Who: ['Person', 'users'],
      Files: ['File', 'attachment'],
      Mail: ['Email', 'at'],
      Phone: ['PhoneNumber', 'phone'],
      Web: ['Url', 'link'],
      Price: ['Number', 'hash'],
    }
    const drawing = (type: string, picture: string) =>
      this.#era >= 5
        ? `<img src="https://www.notion.so/icons/${picture}_gray.svg"/>`
        : `<svg viewBox="0 0 16 16" class="types${type}"><path d="M1 2"></path></svg>`
    const head = Object.entries(columns)
      .map(
        ([name, [type, picture]]) =>
          `<th><span class="icon property-icon">${drawing(type!, picture!)}</span>${name}</th>`,
      )
      .join('')
    const body = rows
      .map(
        (row) =>
          `<tr id="${this.#id()}"><td class="cell-title"><a href="Db/${encodeURIComponent(row.title)}.html">${escape(row.title)}</a></td><td class="cell-a>b">${row.tags.map(pill).join('')}</td><td class="cell-c">${this.#box(row.done)}</td><td class="cell-d">${row.date ? this.#date(row.date) : ''}</td><td class="cell-e">${this.inline(row.note)}</td>${Object.values(
            this.#values(row.values),
          )
            .map((value) => `<td class="cell-f">${value()}</td>`)
            .join('')}</tr>`,
      )
      .join('')
    return `<div ${id} class="collection-content"><h4 class="collection-title">${escape(title)}</h4><table class="collection-content"><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>${this.#era >= 3 ? '<br/><br/>' : ''}</div>`
  }

  inline(list: readonly Inline[]): string {
    return list.map((inline, index) => this.#inline(inline, list[index + 1])).join('')
  }

  #inline(inline: Inline, next: Inline | undefined): string {
    switch (inline.kind) {
      case 'text': {
        // Old exports keep a typed line break as it is, new ones write an element.
        const text =
          this.#era >= 4 ? escape(inline.text).replaceAll('\n', '<br/>') : escape(inline.text)
        const marked = wrapIn(text, inline.marks ?? [])
        return inline.href === undefined ? marked : `<a href="${escape(inline.href)}">${marked}</a>`
      }
      case 'equation':
        if (inline.href !== undefined)
          return `<a href="${escape(inline.href)}">${this.#inline({ kind: 'equation', tex: inline.tex }, next)}</a>`
        if (this.#era >= 6)
          return wrapIn(
            `<span data-notion-inline-equation="${escape(inline.tex)}" class="notion-text-equation-token" contenteditable="false">${this.#katex(inline.tex)}</span>`,
            inline.marks ?? [],
          )
        return wrapIn(
          `<style>@import url('https://example.com/katex.min.css')</style><span data-token-index="0" contenteditable="false" class="notion-text-equation-token" style="user-select:all"><span></span><span>${this.#katex(inline.tex)}</span><span>\u{FEFF}</span></span>`,
          inline.marks ?? [],
        )
      case 'user':
        return `<span class="user">@${escape(inline.name)}</span>`
      case 'date':
        return this.#date(inline.text)
      case 'page':
        return `<a href="${escape(inline.href)}">${inline.icon ? this.#icon(inline.icon) : ''}${escape(inline.title)}</a>`
      case 'break': {
        if (this.#era < 4) return '\n'
        // A change of formatting after a line break comes with a second one.
        const changes = next?.kind === 'text' && (next.marks?.length ?? 0) > 0
        return changes ? '<br/><br/>' : '<br/>'
      }
    }
  }
}

const pill = (value: string) =>
  `<span class="selected-value select-value-color-blue">${escape(value)}</span>`

const wrapIn = (html: string, marks: readonly InlineMark[]) =>
  marks.reduceRight((inner, mark) => TAGS[mark][0] + inner + TAGS[mark][1], html)

const plain = (inline: Inline): string =>
  inline.kind === 'text'
    ? inline.text
    : inline.kind === 'equation'
      ? inline.tex
      : inline.kind === 'user'
        ? `@${inline.name}`
        : inline.kind === 'date'
          ? `@${inline.text}`
          : inline.kind === 'page'
            ? inline.title
            : ' '
