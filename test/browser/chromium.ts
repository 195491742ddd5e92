// A real Chromium, from npm.
import { mkdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import chromium from '@sparticuz/chromium'
import { chromium as playwright } from 'playwright-core'
import type { Browser } from 'playwright-core'

const LOCK = join(tmpdir(), 'tollmark-chromium.lock')
/** Unpacking takes seconds; a lock older than this is left over from a process that was killed. */
const STALE_MS = 60_000

/** Starts a browser of its own; whoever starts it closes it. The first start on a machine unpacks it into the folder for temporary files. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = await unpacked()
  // `--single-process` is for machines with little memory: a page that crashes takes the browser along.
  const args = chromium.args.filter((arg) => arg !== '--single-process' && arg !== '--no-zygote')
  return playwright.launch({ executablePath, headless: true, args: [...args, '--no-sandbox'] })
}

/** One process at a time unpacks: another one would start half a program. */
async function unpacked(): Promise<string> {
  for (;;) {
    try {
      mkdirSync(LOCK)
      break
    } catch {
      const since = statSync(LOCK, { throwIfNoEntry: false })?.mtimeMs
      if (since !== undefined && Date.now() - since > STALE_MS) rmSync(LOCK, { recursive: true, force: true })
      else await sleep(50)
    }
  }
  try {
    return await chromium.executablePath()
  } finally {
    rmSync(LOCK, { recursive: true, force: true })
  }
}
