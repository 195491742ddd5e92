// examples/voice, built and served as it stands there: somebody talks in a real Chromium whose
// microphone is made up, through the real server.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { launchChromium } from '../browser/chromium.ts'
import { rowsOf, startSockets } from '../proxy/socket/support.ts'
import { SECRETS } from '../proxy/support/served.ts'
import { until } from '../support/until.ts'
import { makeProject, ROOT } from './project.ts'

const run = promisify(execFile)
const bin = (path: string): string => join(ROOT, 'node_modules', path)
const vite = bin('vite/bin/vite.js')

test('examples/voice: a page talks to the model with a ten-minute key', async (t) => {
  const served = await startSockets(t, {
    opened: (call) => call.send({ type: 'session.created', session: { id: 'sess_1' } }),
    message: (call, { type }) => {
      const heard = call.messages.filter((text) => text.includes('input_audio_buffer.append'))
      if (type !== 'input_audio_buffer.append' || heard.length !== 3) return
      const id = 'resp_1'
      call.send({ type: 'response.created', response: { id } })
      call.send({
        type: 'response.output_audio_transcript.delta',
        response_id: id,
        item_id: 'item_1',
        delta: 'Hello, I can hear you.',
      })
      call.send({
        type: 'response.done',
        response: { id, status: 'completed', usage: { input_tokens: 10, output_tokens: 20 } },
      })
    },
  })
  const { secret, id } = await served.key({ models: ['gpt-realtime'], rpm: 10 })
  const folder = await makeProject(t, 7)
  cpSync(join(ROOT, 'examples', 'voice'), folder, { recursive: true })
  const proxyUrl = `http://127.0.0.1:${served.port}`
  const { PATH = '', HOME = '' } = process.env
  const at = {
    cwd: folder,
    env: { PATH, HOME, AI_PROXY_KEY: secret, AI_PROXY_URL: proxyUrl, VITE_AI_PROXY_URL: proxyUrl },
  }
  await run(process.execPath, [bin('typescript/bin/tsc'), '-p', folder])
  await run(process.execPath, [vite, 'build', '--logLevel', 'error'], at)
  const site = spawn(process.execPath, [vite, 'preview', '--port', '0', '--host', '127.0.0.1'], {
    ...at,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => site.kill('SIGKILL'))
  let said = ''
  site.stdout.on('data', (piece) => (said += String(piece)))
  let url: string | undefined
  await until(() => {
    // The port is printed in bold.
    // eslint-disable-next-line no-control-regex
    url = /http:\/\/127\.0\.0\.1:\d+/.exec(said.replace(/\u001b\[\d+m/g, ''))?.[0]
    return url !== undefined
  })

  const browser = await launchChromium([
    '--use-fake-device-for-media-stream',
    '--use-fake-ui-for-media-stream',
    '--autoplay-policy=no-user-gesture-required',
  ])
  t.after(() => browser.close())
  const page = await browser.newPage()
  await page.goto(url!)
  await page.getByRole('button', { name: 'Talk' }).click()
  await page.getByText('Hello, I can hear you.').waitFor()

  const [call] = served.provider.calls
  assert.equal(call!.request.headers.authorization, `Bearer ${SECRETS.OPENAI_API_KEY}`)
  await page.close()
  const [response] = await rowsOf(served, id, 2)
  assert.deepEqual(
    [response!.state, response!.tokens_in, response!.tokens_out],
    ['settled', 10, 20],
  )
  assert.notEqual(response!.child_id, null)
})
