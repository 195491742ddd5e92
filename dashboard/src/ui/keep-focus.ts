// The focus is never lost. Where the element that has it goes away (a row that is deleted, a button
// that does its work once), the browser gives it to nobody: whoever works by keyboard or by ear
// would stand nowhere. Here it comes to what is next to that place, or around it.

/** What may have the focus in place of something inside it. */
const FOCUS_TARGETS = 'tr, li, [data-home], section, header, main, [role="dialog"]'
/**
 * Milliseconds that a dialog has to give the focus back to what opened it, and a page that is being
 * loaded to take it.
 */
const WAIT_MS = 40

/** Watches over the document's focus for as long as it lives. */
export function keepFocus(): void {
  /**
   * What has the focus, and what is around it, inside out; behind a dialog's, the same of what
   * opened it.
   */
  let chain: readonly Element[] = []
  let opener: readonly Element[] = []
  /** The row that was next to the one that went away. */
  let sibling: Element | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  const isLost = (): boolean =>
    chain.length > 0 &&
    (document.activeElement === null || document.activeElement === document.body)
  const find = (): void => {
    timer = undefined
    if (!isLost()) return
    const [last, ...around] = chain
    if (last?.isConnected) {
      // A button that is at work cannot have the focus, and gets it back.
      if (last instanceof HTMLElement && !last.matches(':disabled'))
        last.focus({ preventScroll: true })
      return
    }
    restoreFocus(
      [sibling, ...around].find(
        (element) =>
          element?.isConnected && (element === opener[0] || element.matches(FOCUS_TARGETS)),
      ) ?? document.querySelector('main'),
    )
  }
  document.addEventListener('focusin', ({ target }) => {
    const own = target instanceof Element ? ancestors(target) : []
    const inDialog = own.some((element) => element.role === 'dialog')
    if (!inDialog) {
      opener = own
      sibling = null
    }
    chain = inDialog ? [...own, ...opener] : own
  })
  // Whoever clicks beside everything means it.
  document.addEventListener('click', () => {
    if (isLost() && chain[0]?.isConnected) chain = []
  })
  new MutationObserver((changes) => {
    for (const { removedNodes, nextSibling, previousSibling } of changes) {
      if (
        [...removedNodes].some(
          (node) => node instanceof Element && node.matches('tr, li') && chain.includes(node),
        )
      ) {
        sibling = [nextSibling, previousSibling].find((node) => node instanceof Element) ?? null
      }
    }
    if (isLost()) timer ??= setTimeout(find, WAIT_MS)
  }).observe(document.body, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ['disabled'],
  })
}

function ancestors(element: Element): Element[] {
  const chain: Element[] = []
  for (let at: Element | null = element; at !== null && at !== document.body; at = at.parentElement)
    chain.push(at)
  return chain
}

/** A page says where one is by its heading. */
function restoreFocus(focusTarget: Element | null): void {
  const target = focusTarget?.matches('header, main')
    ? (focusTarget.querySelector('h1') ?? focusTarget)
    : focusTarget
  if (!(target instanceof HTMLElement)) return
  // A button goes on being a stop of the Tab key.
  if (target.tabIndex < 0) target.tabIndex = -1
  target.focus({ preventScroll: true })
}
