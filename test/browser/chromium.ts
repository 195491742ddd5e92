// A real Chromium, from npm.
import { mkdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import chromium from '@sparticuz/chromium'
import { chromium as playwright } from 'playwright-core'
import type { Browser } from 'playwright-core'

/**
 * What that build is started with by default and a person's browser is not: it would let a page do
 * what no browser lets it, or take the browser along when a page crashes.
 */
const NOT_TAKEN = new Set([
  '--disable-web-security',
  '--allow-running-insecure-content',
  '--disable-site-isolation-trials',
  '--disable-features=AudioServiceOutOfProcess,IsolateOrigins,site-per-process',
  '--single-process',
  '--no-zygote',
  '--ignore-gpu-blocklist',
  '--in-process-gpu',
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
])
const LOCK = join(tmpdir(), 'tollmark-chromium.lock')
/** Unpacking takes seconds; a lock older than this is left over from a process that was killed. */
const STALE_MS = 60_000

/**
 * Starts a browser of its own; whoever starts it closes it. The first start on a machine unpacks it
 * into the folder for temporary files.
 *
 * @param more arguments
 */
export async function launchChromium(more: readonly string[] = []): Promise<Browser> {
  const executablePath = await unpacked()
  const args = chromium.args.filter((arg) => !NOT_TAKEN.has(arg))
  return playwright.launch({
    executablePath,
    headless: true,
    args: [...args, '--no-sandbox', '--disable-gpu', ...more],
  })
}

let shared: Promise<Browser> | undefined

/**
 * The browser that all files of this process share, because a start costs a second of CPU. Give
 * each test its own context. `closeChromium` ends it.
 */
export function sharedChromium(): Promise<Browser> {
  return (shared ??= launchChromium())
}

/** For `after`, which runs when all files of the process are done. */
export async function closeChromium(): Promise<void> {
  const browser = shared
  shared = undefined
  await (await browser)?.close()
}

/** One process at a time unpacks: another one would start half a program. */
async function unpacked(): Promise<string> {
  for (;;) {
    try {
      mkdirSync(LOCK)
      break
    } catch {
      const since = statSync(LOCK, { throwIfNoEntry: false })?.mtimeMs
      if (since !== undefined && Date.now() - since > STALE_MS)
        rmSync(LOCK, { recursive: true, force: true })
      else await sleep(50)
    }
  }
  try {
    return await chromium.executablePath()
  } finally {
    rmSync(LOCK, { recursive: true, force: true })
  }
}
