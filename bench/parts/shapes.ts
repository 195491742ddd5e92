// Hostile pages of any size, built to make a converter slow, recurse deeply or use much memory.

/** A kind of hostile page. */
export interface Shape {
  name: string
  /** The HTML, of about `size` characters. `NEEDLE` marks text that must survive. */
  make(size: number): string
}

/** A word that the conversion must keep. */
export const NEEDLE = 'needle'

/** Puts a body into the exporter's shell. */
const page = (body: string) =>
  `<html><head><meta http-equiv="Content-Type" content="text/html; charset=utf-8"/><title>Hostile</title></head><body><article id="00000000-0000-4000-8000-000000000000" class="page sans"><header><h1 class="page-title">Hostile</h1></header><div class="page-body">${body}</div></article></body></html>`

/** Repeats `unit` to about `size` characters. */
const fill = (unit: string, size: number) =>
  unit.repeat(Math.max(1, Math.floor(size / unit.length)))

/** Nests `open` and `close` to about `size` characters, with the needle inside. */
const nest = (open: string, close: string, size: number) => {
  const depth = Math.max(1, Math.floor(size / (open.length + close.length)))
  return open.repeat(depth) + NEEDLE + close.repeat(depth)
}

/** A shape that repeats a piece after the needle. */
const many = (name: string, unit: string): Shape => ({
  name,
  make: (size) => page(`<p id="a" class="">${NEEDLE}</p>${fill(unit, size)}`),
})

/** A paragraph with one long text. */
const text = (name: string, unit: string): Shape => ({
  name,
  make: (size) => page(`<p id="a" class="">${NEEDLE} ${fill(unit, size)}</p>`),
})

/** A container nested in itself. */
const deep = (name: string, open: string, close: string): Shape => ({
  name,
  make: (size) => page(nest(open, close, size)),
})

/** An unclosed beginning, with text before it. */
const torn = (name: string, begin: string, unit: string): Shape => ({
  name,
  make: (size) =>
    page(`<p id="a" class="">${NEEDLE}</p>${begin}${fill(unit, size)}`).replace(
      /<\/div><\/article><\/body><\/html>$/,
      '',
    ),
})

/** Pieces of pages as Notion writes them: a table row, an inline equation. */
const cellRow = '<tr id="r"><td id="c1" class="">one</td><td id="c2" class="">two | three</td></tr>'
const equation =
  '<style>@import url(\'x\')</style><span data-token-index="0" class="notion-text-equation-token"><span></span><span><span class="katex"><span class="katex-mathml"><math><semantics><mrow><mi>x</mi></mrow><annotation encoding="application/x-tex">x_1</annotation></semantics></math></span><span class="katex-html" aria-hidden="true">x</span></span></span><span>\u{FEFF}</span></span>'

/** TABLE of shapes. */
export const shapes: Shape[] = [
  // Containers within themselves.
  deep(
    'deep bulleted lists',
    '<ul id="a" class="bulleted-list"><li style="list-style-type:disc">x',
    '</li></ul>',
  ),
  deep(
    'deep numbered lists',
    '<ol type="1" id="a" class="numbered-list" start="1"><li>x',
    '</li></ol>',
  ),
  deep(
    'deep to-dos',
    '<ul id="a" class="to-do-list"><li><div class="checkbox checkbox-off"></div> <span class="to-do-children-unchecked">x</span><div class="indented">',
    '</div></li></ul>',
  ),
  deep(
    'deep toggles',
    '<ul id="a" class="toggle"><li><details open=""><summary>x</summary>',
    '</details></li></ul>',
  ),
  deep(
    'deep toggle headings',
    '<details open=""><summary style="font-weight:600;font-size:1.5em">x</summary><div class="indented">',
    '</div></details>',
  ),
  deep('deep quotes', '<blockquote id="a" class="">x', '</blockquote>'),
  deep(
    'deep callouts',
    '<figure class="callout" id="a"><div><span class="icon">💡</span></div><div style="width:100%">',
    '</div></figure>',
  ),
  deep('deep indented paragraphs', '<p id="a" class="">x<div class="indented">', '</div></p>'),
  deep('deep wrappers', '<div style="display:contents" dir="auto">', '</div>'),
  deep(
    'deep columns',
    '<div id="a" class="column-list"><div id="b" class="column">',
    '</div></div>',
  ),
  deep('deep tables', '<table class="simple-table"><tbody><tr><td>', '</td></tr></tbody></table>'),
  deep('deep unknown elements', '<x-y>', '</x-y>'),
  deep(
    'deep list, quote, toggle in turn',
    '<ul id="a" class="bulleted-list"><li>x<blockquote id="b">y<details open=""><summary>z</summary>',
    '</details></blockquote></li></ul>',
  ),
  // Marks.
  {
    name: 'deep bold',
    make: (size) => page(`<p id="a" class="">${nest('<strong>', '</strong>', size)}</p>`),
  },
  {
    name: 'deep bold and italic in turn',
    make: (size) =>
      page(`<p id="a" class="">${nest('<strong>a<em>b', '</em></strong>', size)}</p>`),
  },
  {
    name: 'deep coloured spans',
    make: (size) =>
      page(`<p id="a" class="">${nest('<mark class="highlight-red">', '</mark>', size)}</p>`),
  },
  {
    name: 'deep underlines',
    make: (size) =>
      page(
        `<p id="a" class="">${nest('<span style="border-bottom:0.05em solid">x', '</span>', size)}</p>`,
      ),
  },
  {
    name: 'deep links',
    make: (size) =>
      page(`<p id="a" class="">${nest('<a href="https://example.com/">x', '</a>', size)}</p>`),
  },
  text('many short marks', '<strong>a</strong> <em>b</em> <del>c</del> <code>d</code> '),
  text('marks that touch', '<strong>a</strong><em>b</em><strong>c</strong><code>d</code>'),
  text('mis-nested marks', '<strong>a<em>b</strong>c</em>'),
  text('marks never ended', '<strong><em>x'),
  text('ends without a beginning', '</strong></em></p></div>x'),
  text('spaces within marks', '<strong> a </strong>'),
  text('many links', '<a href="https://example.com/a_(b)?x=1&amp;y=2">link [x]</a> '),
  text('many equations', equation),
  text('many equations before digits', `${equation}1`),
  text(
    'equations never ended',
    '<span class="katex"><annotation encoding="application/x-tex">y</annotation><p>x',
  ),
  {
    name: 'one long equation',
    make: (size) =>
      page(
        `<p id="a" class="">${NEEDLE}</p><figure class="equation"><span class="katex"><annotation encoding="application/x-tex">${fill('x_1 + $ y\\ \n\n', size)}</annotation></span></figure>`,
      ),
  },
  // One long text.
  text('one line of words', 'word and word '),
  text('one word', 'a'),
  text('runs of *', '*'),
  text('runs of _', '_'),
  text('runs of [', '['),
  text('runs of ]', ']'),
  text('runs of backticks', '`'),
  text('runs of $', '$'),
  text('runs of ~', '~'),
  text('runs of <', '&lt;'),
  text('runs of &', '&amp;'),
  text('runs of bare &', '&'),
  text('runs of bare <', '< '),
  text('runs of backslashes', '\\'),
  text('runs of |', '|'),
  text('runs of #', '#'),
  text('runs of !', '!['),
  text('runs of -', '-'),
  text('runs of digits', '1'),
  text('runs of (', '('),
  text('runs of :', ':'),
  text('runs of @', 'a@'),
  text(
    'delimiters of all kinds',
    '*_[`$~<&](!\\'.replaceAll('<', '&lt;').replaceAll('&]', '&amp;]'),
  ),
  text('left and right delimiters', 'a* *a _b b_ '),
  text(
    'backtick runs of every length',
    `${Array.from({ length: 60 }, (_, length) => '`'.repeat(length)).join(' ')} `,
  ),
  text('line breaks', '<br/>'),
  text('raw newlines', 'a\n'),
  {
    name: 'a link of many lines',
    make: (size) =>
      page(`<p id="a" class="">${NEEDLE} <a href="x">${fill('a<br/>', size)}</a></p>`),
  },
  {
    name: 'a heading of many lines',
    make: (size) => page(`<h1 id="a" class="">${NEEDLE} ${fill('a<br/>', size)}</h1>`),
  },
  text('blank lines', '\n'),
  text('spaces', ' '),
  text('no-break spaces', '\u{A0}'),
  text('addresses', 'https://example.com/a_b?x=1&amp;y=2 '),
  text('one long address', 'www.a.'),
  {
    name: 'addresses before a <',
    make: (size) => page(`<p id="a" class="">${NEEDLE} ${fill('https://', size)}&lt;</p>`),
  },
  text(
    'addresses, links and marks without a space',
    'https://a<strong>b</strong><a href="https://example.com/"><em>c</em></a>',
  ),
  text('mail addresses', 'a@b.c '),
  text('entities', '&lt;&gt;&#x27;&quot;&amp;&nbsp;&hellip;'),
  text('unknown entities', '&abcdefgh;'),
  text('astral characters', '🚀'),
  text('joined emoji', '👩‍👩‍👧‍👦'),
  text('Chinese with marks', '中文<strong>「粗」</strong>体'),
  text('right to left', 'שלום <strong>עולם</strong> '),
  {
    name: 'inline code of backticks',
    make: (size) =>
      page(`<p id="a" class="">${NEEDLE} <code>${fill('` `` ``` ', size)}</code></p>`),
  },
  {
    name: 'many code spans of backticks',
    make: (size) => page(`<p id="a" class="">${NEEDLE} ${fill('<code>`</code> ', size)}</p>`),
  },
  // Many blocks.
  many('paragraphs', '<p id="a" class="">text</p>'),
  many('empty paragraphs', '<p id="a" class="">\n</p>'),
  many(
    'one-item lists',
    '<ul id="a" class="bulleted-list"><li style="list-style-type:disc">x</li></ul>',
  ),
  many('numbered items', '<ol type="1" id="a" class="numbered-list" start="3"><li>x</li></ol>'),
  many(
    'list kinds in turn',
    '<ul id="a" class="bulleted-list"><li>x</li></ul><ol type="1" id="a" class="numbered-list" start="1"><li>x</li></ol><ul id="a" class="to-do-list"><li><div class="checkbox checkbox-on"></div> x</li></ul>',
  ),
  many('headings of one text', '<h1 id="a" class="">The same heading</h1>'),
  many(
    'toggles',
    '<ul id="a" class="toggle"><li><details open=""><summary>x</summary><p>y</p></details></li></ul>',
  ),
  many('dividers', '<hr id="a"/>'),
  many(
    'images',
    '<figure id="a" class="image"><a href="x%20y.png"><img src="x%20y.png"/></a><figcaption>c</figcaption></figure>',
  ),
  many(
    'bookmarks',
    '<figure id="a"><a href="https://e.com" class="bookmark source"><div class="bookmark-info"><div class="bookmark-text"><div class="bookmark-title">T</div><div class="bookmark-description">D</div></div></div></a></figure>',
  ),
  {
    name: 'a table of contents beside its headings',
    make: (size) =>
      page(
        `<p id="a">${NEEDLE}</p><nav class="table_of_contents">${Array.from({ length: Math.floor(size / 150) }, (_, i) => `<div class="table_of_contents-item table_of_contents-indent-${i % 3}"><a class="table_of_contents-link" href="#h${i}">H</a></div>`).join('')}</nav>${Array.from({ length: Math.floor(size / 150) }, (_, i) => `<h2 id="h${i}" class="">H</h2>`).join('')}`,
      ),
  },
  // Tables.
  {
    name: 'table rows',
    make: (size) =>
      page(
        `<p id="a">${NEEDLE}</p><table class="simple-table"><tbody>${fill(cellRow, size)}</tbody></table>`,
      ),
  },
  {
    name: 'one row of many cells',
    make: (size) =>
      page(
        `<p id="a">${NEEDLE}</p><table class="simple-table"><tbody><tr>${fill('<td>x</td>', size)}</tr></tbody></table>`,
      ),
  },
  {
    name: 'one wide row, many narrow',
    make: (size) =>
      page(
        `<p id="a">${NEEDLE}</p><table class="simple-table"><tbody><tr>${fill('<td>x</td>', size / 2)}</tr>${fill('<tr><td>y</td></tr>', size / 2)}</tbody></table>`,
      ),
  },
  {
    name: 'one long cell among short',
    make: (size) =>
      page(
        `<p id="a">${NEEDLE}</p><table class="simple-table"><tbody><tr><td>${fill('word ', size / 2)}</td></tr>${fill('<tr><td>y</td></tr>', size / 2)}</tbody></table>`,
      ),
  },
  {
    name: 'text between rows',
    make: (size) =>
      page(
        `<p id="a">${NEEDLE}</p><table class="simple-table"><tbody>${fill('<div></div>x<tr><td>y</td></tr>', size)}</tbody></table>`,
      ),
  },
  {
    name: 'many values in a cell',
    make: (size) =>
      page(
        `<p id="a">${NEEDLE}</p><table class="collection-content"><tbody><tr><td>${fill('<span class="selected-value">v</span>', size)}</td></tr></tbody></table>`,
      ),
  },
  // Code.
  {
    name: 'a long code block',
    make: (size) =>
      page(
        `<p id="a">${NEEDLE}</p><pre class="code"><code>${fill('let x = 1 &lt; 2;\n', size)}</code></pre>`,
      ),
  },
  {
    name: 'code of backticks',
    make: (size) =>
      page(`<p id="a">${NEEDLE}</p><pre class="code"><code>${fill('`', size)}</code></pre>`),
  },
  {
    name: 'code of fences',
    make: (size) =>
      page(`<p id="a">${NEEDLE}</p><pre class="code"><code>${fill('```\n', size)}</code></pre>`),
  },
  {
    name: 'code at the deepest level',
    make: (size) =>
      page(
        `<p id="a">${NEEDLE}</p>${'<ul class="bulleted-list"><li>'.repeat(600)}<pre class="code"><code>${fill('x\n', size)}</code></pre>${'</li></ul>'.repeat(600)}`,
      ),
  },
  {
    name: 'items at the deepest level',
    make: (size) =>
      page(
        `<p id="a">${NEEDLE}</p>${'<ul class="bulleted-list"><li>x'.repeat(600)}${fill('<ul class="bulleted-list"><li>x</li></ul>', size)}${'</li></ul>'.repeat(600)}`,
      ),
  },
  {
    name: 'quotes at the deepest level',
    make: (size) =>
      page(
        `<p id="a">${NEEDLE}</p>${'<blockquote>x'.repeat(600)}${fill('<p id="a">x</p>', size)}${'</blockquote>'.repeat(600)}`,
      ),
  },
  {
    name: 'code fifty levels deep',
    make: (size) =>
      page(
        `<p id="a">${NEEDLE}</p>${'<ul class="bulleted-list"><li>'.repeat(50)}<pre class="code"><code>${fill('x\n', size / 8)}</code></pre>${'</li></ul>'.repeat(50)}`,
      ),
  },
  // Tags and malformed tags.
  torn('tags never ended', '', '<div><p><ul><li>'),
  torn('headings never ended', '', '<h1>\n- '),
  torn('an unfinished tag', '<p ', 'a '),
  torn('an unfinished attribute', '<p title="', 'a '),
  torn('an unfinished comment', '<!-- ', 'a- '),
  torn('an unfinished style', '<style>', 'a{} '),
  torn('an unfinished script', '<script>', 'a;</scrip '),
  torn('an unfinished CDATA section', '<svg><![CDATA[', ']] '),
  many('comments', '<!-- x -->'),
  many('bogus comments', '<!x>'),
  many('processing instructions', '<?x?>'),
  many('script ends', '</script>'),
  many('empty styles', '<style></style>'),
  many('unfinished tags', '<p <p '),
  many('closing tags only', '</p></ul></li>'),
  many('mis-nested blocks', '<ul><li><p></ul></li></p>'),
  many('self-closed blocks', '<div/><p/>'),
  {
    name: 'many attributes',
    make: (size) =>
      page(
        `<p id="a" ${Array.from({ length: Math.floor(size / 14) }, (_, i) => `data-${i}="x"`).join(' ')}>${NEEDLE}</p>`,
      ),
  },
  {
    name: 'the same attribute',
    make: (size) => page(`<p ${fill('class="a" ', size)}>${NEEDLE}</p>`),
  },
  {
    name: 'a huge attribute',
    make: (size) => page(`<p title="${fill('x &amp; y ', size)}">${NEEDLE}</p>`),
  },
  {
    name: 'a huge address',
    make: (size) =>
      page(
        `<p id="a"><a href="https://example.com/${fill('a(%20)&amp;', size)}">${NEEDLE}</a></p>`,
      ),
  },
  {
    name: 'a huge class list',
    make: (size) => page(`<p class="${fill('a b ', size)}">${NEEDLE}</p>`),
  },
  {
    name: 'a huge style',
    make: (size) => page(`<p id="a"><span style="${fill('a:b;', size)}">${NEEDLE}</span></p>`),
  },
  {
    name: 'a huge title',
    make: (size) =>
      page('').replace('>Hostile</h1>', () => `>${NEEDLE} ${fill('word* ', size)}</h1>`),
  },
  {
    name: 'a huge heading',
    make: (size) => page(`<h1 id="a">${NEEDLE} ${fill('word # ', size)}</h1>`),
  },
  {
    name: 'a huge summary',
    make: (size) =>
      page(`<details><summary>${NEEDLE} ${fill('a <em>b</em> &lt; ', size)}</summary></details>`),
  },
  {
    name: 'a huge caption',
    make: (size) =>
      page(
        `<figure class="image"><img src="x.png"/><figcaption>${NEEDLE} ${fill('a ] <em>b</em> ', size)}</figcaption></figure>`,
      ),
  },
  { name: 'nothing but text', make: (size) => `${NEEDLE} ${fill('no tags at all ', size)}` },
]
