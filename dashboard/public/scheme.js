// Chooses light or dark before the first paint; a file of its own because the content policy allows
// no script inside the page.
;(() => {
  let wish = 'auto'
  try {
    wish = localStorage.getItem('mantine-color-scheme-value') ?? 'auto'
  } catch {}
  const dark =
    wish === 'dark' || (wish !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light')
})()
