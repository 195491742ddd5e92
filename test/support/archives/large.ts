// Valid archives as large as an upload may be.
import { noise } from './bombs.ts'
import { pageHtml } from './pages.ts'
import { many, part } from './shapes.ts'
import { archive } from './writer.ts'

const MB = 1024 * 1024
const attachmentAndPage = () =>
  archive([
    { name: 'a.bin', data: noise(45 * MB), stored: true },
    { name: 'a.html', data: 'x' },
  ])

/** TABLE of large archives. */
export const LARGE: { name: string; build(): Uint8Array }[] = [
  {
    name: '50,000 small pages',
    build: () =>
      archive(many(50_000, (i) => ({ name: `Page ${i}.html`, data: pageHtml(`Page ${i}`) }))),
  },
  {
    name: '50,000 small pages with long names, in a part',
    build: () =>
      archive([
        part(
          archive(
            many(49_999, (i) => ({
              name: `${'ä'.repeat(100)}/${i}.html`,
              data: 'x',
              stored: true,
            })),
          ),
        ),
      ]),
  },
  {
    name: '45 MB of images and 100 pages',
    build: () =>
      archive([
        ...many(90, (i) => ({ name: `${i}.png`, data: noise(MB / 2), stored: true })),
        ...many(100, (i) => ({
          name: `${i}.html`,
          data: pageHtml('Page', `<p>${i}</p>`.repeat(2000)),
        })),
      ]),
  },
  {
    name: 'a deflated part of 45 MB',
    build: () => archive([{ ...part(attachmentAndPage()), stored: false }]),
  },
  {
    name: 'a stored part of 45 MB',
    build: () => archive([part(attachmentAndPage())]),
  },
  {
    name: 'a page of 30 MB',
    build: () => archive([{ name: 'a.html', data: noise(15 * MB).toString('hex') }]),
  },
]
