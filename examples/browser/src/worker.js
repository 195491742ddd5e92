// Converts the file that it is sent, so that the page stays responsive.
import { convertArchive, InvalidArchive } from '@tollmark/notion-markdown/web'

const onPage = (done, total) => postMessage({ done, total })

addEventListener('message', async ({ data: file }) => {
  try {
    const pieces = []
    const document = convertArchive(file, { onPage })
    let piece = await document.next()
    for (; !piece.done; piece = await document.next()) pieces.push(piece.value)
    postMessage({ ...piece.value, markdown: new Blob(pieces, { type: 'text/markdown' }) })
  } catch (error) {
    postMessage({ error: error instanceof InvalidArchive ? error.detail : String(error) })
  }
})
