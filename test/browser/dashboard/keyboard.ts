// Somebody who has a keyboard and nothing else. Wherever the focus comes, it can be seen; and it is
// never lost.
import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'

export type Name = string | RegExp
/** A disclosure's head has no role of its own. */
type Role = Parameters<Page['getByRole']>[0] | 'summary'

/** TABLE of what can be done and seen, as a flow writes it. */
export type Step =
  /** Goes to a path of the site. */
  | readonly ['open', string]
  /** The same, and past the navigation at once. */
  | readonly ['enter', string]
  /** Tab until it has the focus. */
  | readonly ['to', Role, Name]
  /** Tab until it has the focus, then Enter. */
  | readonly ['press', Role, Name]
  /** Tab to the field with this label, then the text. */
  | readonly ['type', Name, string]
  /** Tab to the list with this label, then down to the choice that begins like this. */
  | readonly ['choose', Name, string]
  /** Presses these keys, wherever the focus is. */
  | readonly ['keys', ...string[]]
  /** Waits until it is there, or until this text is. */
  | readonly ['see', Role | 'text', Name]
  | readonly ['gone', Role, Name]
  /** Waits until the address says this. */
  | readonly ['address', RegExp]
  /** The focus has come there by itself. */
  | readonly ['on', Role, Name]
  /** A dialog is open, has the focus, and Tab never leaves it. */
  | readonly ['dialog', Name]

/** Tabs until somebody gives up: more than any page has stops. */
const MOST_TABS = 120

/**
 * What has the focus, and whether a person can see that. A field in a label may be drawn by what
 * follows it, and a password by the box around it.
 */
const LOOK = `(() => {
  const at = document.activeElement
  if (at === null || at === document.body) return { lost: true }
  const box = at.getBoundingClientRect()
  const shown = box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth
  // A heading says where one is; there is nothing to press on it, and no ring.
  const outlined = at.matches('h1') || [at, at.nextElementSibling, at.closest('.mantine-PasswordInput-input')].some((one) => {
    if (one === null) return false
    const { outlineStyle, outlineWidth } = getComputedStyle(one)
    return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1
  })
  const inDialog = at.closest('[role=dialog]') !== null
  const behind = inDialog ? null : document.querySelector('[role=dialog]')
  return { lost: false, wanted: window.wanted?.includes(at) === true, seen: shown && outlined, inDialog, what: at.outerHTML.slice(0, 160) + (behind ? ' behind a dialog: ' + behind.innerText : '') }
})()`

interface Look {
  lost: boolean
  wanted?: boolean
  seen?: boolean
  inDialog?: boolean
  what?: string
}

export interface Keyboard {
  /** Goes through a flow, and says at which step it ends. */
  walk(steps: readonly Step[]): Promise<void>
}

/** The keyboard before this page of the site at `url`. */
export function keyboardOf(page: Page, url: string): Keyboard {
  /** A document that has just been opened gives the focus to nothing yet. */
  let fresh = true
  const find = (role: Role, name: Name): Locator =>
    role === 'summary'
      ? page.locator('summary', { hasText: name })
      : page.getByRole(role, { name, exact: typeof name === 'string' })
  /**
   * Tells the page what is wanted, so that one look says whether the focus is on it, and can be
   * seen there.
   */
  const want = (wanted: Locator): Promise<void> =>
    wanted.evaluateAll((found) => void Object.assign(globalThis, { wanted: found }))
  const look = async (): Promise<Look> => (await page.evaluate(LOOK)) as Look

  /** Looks until it is as it must be: at once, or as soon as what was done is through. */
  async function until(
    fits: (look: Look) => boolean | Promise<boolean>,
    complain: (look: Look) => string,
  ): Promise<void> {
    for (const end = Date.now() + 60_000; ;) {
      const now = await look()
      if (await fits(now)) return
      assert.ok(Date.now() < end, complain(now))
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => resolve(true)))')
    }
  }

  async function held(): Promise<void> {
    if (!fresh)
      await until(
        ({ lost }) => !lost,
        () => 'the focus is lost',
      )
  }

  async function tabTo(wanted: Locator): Promise<void> {
    await wanted.first().waitFor()
    await held()
    for (let presses = 0; presses < MOST_TABS; presses++) {
      // What is wanted may be drawn anew meanwhile, but hardly ever is.
      if (presses % 20 === 0) await want(wanted)
      if (presses > 0) await page.keyboard.press('Tab')
      const { lost, seen, wanted: there } = await look()
      if (there) return
      if (presses > 0) fresh = false
      // Behind its last stop the page gives the focus back to the browser, whose next Tab begins
      // anew. A list that is just loaded may move what has it.
      if (!lost && !seen && presses > 0)
        await until(
          ({ lost, seen }) => lost || seen === true,
          ({ what }) => `the focus cannot be seen on ${what}`,
        )
    }
    assert.fail('Tab does not reach it')
  }

  async function arrived(wanted: Locator): Promise<void> {
    const there = async (): Promise<boolean> => {
      await want(wanted)
      const { wanted: there, seen, what } = await look()
      if (there) assert.ok(seen, `the focus cannot be seen on ${what}`)
      return there === true
    }
    await until(there, ({ what }) => `the focus is on ${what ?? 'nothing'}`)
    fresh = false
  }

  /**
   * Not by typing: a list forgets the beginning of a word after a second, which on a busy machine
   * may be between two letters.
   */
  async function choose(list: Locator, beginning: string): Promise<void> {
    await tabTo(list)
    await list
      .locator('option', { hasText: new RegExp(`^${beginning}`) })
      .first()
      .waitFor({ state: 'attached' })
    for (let presses = 0; ; presses++) {
      const choices = await list.locator('option').allTextContents()
      const chosen = (await list.locator('option:checked').textContent()) ?? ''
      if (chosen.startsWith(beginning)) return
      assert.ok(presses < choices.length, `the list stays at ${chosen}`)
      const below =
        choices.indexOf(chosen) < choices.findIndex((choice) => choice.startsWith(beginning))
      await page.keyboard.press(below ? 'ArrowDown' : 'ArrowUp')
    }
  }

  /**
   * Once around, and back to where the dialog put the focus: it does so twice, and may do the
   * second time when Tab has been pressed already.
   */
  async function isTrapped(): Promise<void> {
    await until(
      ({ inDialog }) => inDialog === true,
      ({ what }) => `the dialog does not take the focus: it is on ${what ?? 'nothing'}`,
    )
    await page.evaluate('window.home = document.activeElement')
    for (let presses = 0, back = false; !back; presses++) {
      await page.keyboard.press('Tab')
      const { inDialog, what, seen } = await look()
      assert.ok(inDialog, `Tab leaves the dialog for ${what ?? 'nothing'}`)
      assert.ok(seen, `the focus cannot be seen on ${what}`)
      assert.ok(presses < MOST_TABS, 'Tab does not come back')
      back = (await page.evaluate('window.home === document.activeElement')) as boolean
    }
    await page.keyboard.press('Shift+Tab')
    assert.ok((await look()).inDialog, 'Shift+Tab leaves the dialog')
    await page.keyboard.press('Tab')
  }

  async function take(step: Step): Promise<void> {
    switch (step[0]) {
      case 'open':
        fresh = true
        return void (await page.goto(url + step[1]))
      case 'enter':
        await take(['open', step[1]])
        await take(['press', 'link', 'Skip to content'])
        return arrived(find('main', ''))
      case 'to':
        return tabTo(find(step[1], step[2]))
      case 'press':
        await tabTo(find(step[1], step[2]))
        return page.keyboard.press('Enter')
      case 'type':
        await tabTo(page.getByLabel(step[1], { exact: true }))
        return page.keyboard.type(step[2])
      case 'choose':
        return choose(find('combobox', step[1]), step[2])
      case 'keys':
        await held()
        for (const key of step.slice(1)) await page.keyboard.press(key)
        return
      case 'see':
        return (step[1] === 'text' ? page.getByText(step[2]) : find(step[1], step[2]))
          .first()
          .waitFor()
      case 'gone':
        return find(step[1], step[2]).waitFor({ state: 'detached' })
      case 'address':
        return page.waitForURL(step[1])
      case 'on':
        return arrived(find(step[1], step[2]))
      case 'dialog':
        await find('dialog', step[1]).waitFor()
        return isTrapped()
    }
  }

  return {
    async walk(steps) {
      for (const [index, step] of steps.entries()) {
        try {
          await take(step)
        } catch (error) {
          throw new Error(
            `step ${index + 1}, ${step.join(' ')}: ${error instanceof Error ? error.message : String(error)}`,
            { cause: error },
          )
        }
      }
      await held()
    },
  }
}
