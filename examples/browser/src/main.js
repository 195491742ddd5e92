// Hands the chosen file to a worker, and shows what comes back.
const [input, status, link, preview] = ['input', '[role=status]', 'a', 'pre'].map((selector) =>
  document.querySelector(selector),
)

/** Characters of the document that are shown. */
const SHOWN = 10_000

input.addEventListener('change', () => {
  const [file] = input.files
  if (!file) return
  link.hidden = true
  preview.textContent = ''
  const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })
  worker.addEventListener('error', ({ message }) => (status.textContent = message))
  worker.addEventListener('message', async ({ data }) => {
    if ('total' in data) status.textContent = `${data.done} of ${data.total} pages`
    if ('error' in data) status.textContent = data.error
    if (!('markdown' in data)) return
    worker.terminate()
    status.textContent = `${data.pages} pages, ${data.failed} failed, ${data.warnings} warnings`
    link.href = URL.createObjectURL(data.markdown)
    link.download = file.name.replace(/\.zip$/i, '.md')
    link.hidden = false
    preview.textContent = (await data.markdown.text()).slice(0, SHOWN)
  })
  worker.postMessage(file)
})
