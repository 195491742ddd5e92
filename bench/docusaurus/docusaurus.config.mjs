// The site of bench/docusaurus.ts: each folder in `exports/` is a separate documentation. Broken
// links are warnings, which the bench counts.
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
    // Invalid TeX in an export is not a fault of the conversion.
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
