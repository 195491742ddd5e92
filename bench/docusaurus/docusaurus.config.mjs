// The site of bench/docusaurus.ts: each folder of `exports/` is documentation of its own. Whatever
// leads nowhere is a warning, and the bench counts them.
import { readdirSync } from 'node:fs'
import rehypeKatex from 'rehype-katex'
import remarkMath from 'remark-math'

const docs = readdirSync('exports').map((name) => [
  '@docusaurus/plugin-content-docs',
  {
    id: name,
    path: `exports/${name}`,
    routeBasePath: name,
    sidebarPath: undefined,
    remarkPlugins: [remarkMath],
    // KaTeX's opinion of somebody's TeX is no fault of the pages.
    rehypePlugins: [[rehypeKatex, { strict: false }]],
  },
])

export default {
  title: 'Exports',
  url: 'https://exports.invalid',
  baseUrl: '/',
  trailingSlash: false,
  onBrokenLinks: 'warn',
  onBrokenAnchors: 'warn',
  onDuplicateRoutes: 'warn',
  markdown: {
    format: 'detect',
    hooks: { onBrokenMarkdownLinks: 'warn', onBrokenMarkdownImages: 'warn' },
  },
  presets: [['classic', { docs: false, blog: false, pages: { path: 'home' } }]],
  plugins: docs,
}
