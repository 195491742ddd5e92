// A real Chromium, from npm.
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import chromium from '@sparticuz/chromium'
import { chromium as playwright } from 'playwright-core'
import type { Browser } from 'playwright-core'

/** Starts a browser of its own; whoever starts it closes it. The first start on a machine unpacks it into the folder for temporary files. */
export async function launchChromium(): Promise<Browser> {
  const unpacked = join(tmpdir(), 'chromium')
  const executablePath = existsSync(unpacked) ? unpacked : await chromium.executablePath()
  // `--single-process` of these arguments is for machines with little memory; a page that crashes would take the browser along.
  const args = chromium.args.filter((arg) => arg !== '--single-process' && arg !== '--no-zygote')
  return playwright.launch({ executablePath, headless: true, args: [...args, '--no-sandbox'] })
}
