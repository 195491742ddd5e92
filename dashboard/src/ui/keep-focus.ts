// Keeps the focus. When the focused element disappears (a deleted row, a one-time button), the
// browser drops the focus, and keyboard and screen reader users lose their place. This moves it to
// a neighbour or an ancestor.

/** Elements that can take the focus for something inside them. */
const FOCUS_TARGETS = 'tr, li, [data-home], section, header, main, [role="dialog"]'
/** Milliseconds for a dialog to return the focus, and for a loading page to take it. */
const WAIT_MS = 40

/** Watches the document's focus as long as the page lives. */
export function keepFocus(): void {
  /**
   * The focused element and its ancestors, inside out; in a dialog, followed by those of the
   * element that opened it.
   */
  let chain: readonly Element[] = []
  let opener: readonly Element[] = []
  /** The row next to the removed one. */
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
      // A busy button is disabled and cannot be focused; it gets the focus back later.
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
  // A click on nothing drops the focus on purpose.
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

/** For a page, focus its heading. */
function restoreFocus(focusTarget: Element | null): void {
  const target = focusTarget?.matches('header, main')
    ? (focusTarget.querySelector('h1') ?? focusTarget)
    : focusTarget
  if (!(target instanceof HTMLElement)) return
  // A button stays in the Tab order.
  if (target.tabIndex < 0) target.tabIndex = -1
  target.focus({ preventScroll: true })
}
