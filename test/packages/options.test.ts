// What createProxyGenai and createProxyExpress take, on both majors of the AI SDK; and what they
// say beside an older one.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { builtPackages, folderInDist, load, MAJORS, makeProject } from './project.ts'

const run = promisify(execFile)

/** A fetch that responds as Gemini does, and the headers and addresses that it was given. */
function gemini(): { fetch: typeof fetch; sent: { address: string; headers: Headers }[] } {
  const sent: { address: string; headers: Headers }[] = []
  const fetch = async (input: unknown, init?: RequestInit): Promise<Response> => {
    sent.push({ address: String(input), headers: new Headers(init?.headers) })
    return Response.json({
      candidates: [
        { content: { role: 'model', parts: [{ text: 'Hello' }] }, finishReason: 'STOP' },
      ],
    })
  }
  return { fetch, sent }
}

for (const major of MAJORS) {
  test(`headers, a context key, a fetch and a function as the key, on AI SDK ${major}`, async (t) => {
    const { ai, genai, express } = await load(await makeProject(t, major))
    const { fetch, sent } = gemini()
    const common = {
      proxyUrl: 'https://proxy.test',
      apiKey: async () => 'tmk_asked',
      contextKey: 'chat-1',
      fetch,
    }
    const headers = { 'x-mine': '1', 'x-goog-api-key': 'sk-theirs' }
    const models = [
      genai.createProxyGenai({ ...common, headers })('gemini-2.5-flash'),
      express.createProxyExpress({ ...common, settings: { headers } })('gemini-2.5-flash'),
    ]
    for (const model of models)
      assert.equal((await ai.generateText({ model, prompt: 'Hello' })).text, 'Hello')
    assert.equal(sent.length, 2)
    for (const { address, headers } of sent) {
      assert.match(address, /^https:\/\/proxy\.test\/proxy\?url=https%3A%2F%2F/)
      const names = ['authorization', 'x-proxy-context-key', 'x-mine', 'x-goog-api-key']
      assert.deepEqual(
        names.map((name) => headers.get(name)),
        ['Bearer tmk_asked', 'chat-1', '1', null],
      )
    }
  })
}

/**
 * TABLE of packages, the peer of each, and how AI SDK 5 exports a provider from it: one that says
 * nothing of a specification.
 */
const OLDER = [
  ['genai', 'createProxyGenai', '@ai-sdk/google', 'index.js', 'createGoogleGenerativeAI'],
  ['genai-express', 'createProxyExpress', '@ai-sdk/google-vertex', 'edge.js', 'createVertex'],
] as const

for (const [name, create, peer, file, createPeer] of OLDER) {
  test(`@proxy-sdk/${name} with AI SDK 5 says which version it needs`, async (t) => {
    const folder = await olderProject(t, peer, file, createPeer)
    writeFileSync(
      join(folder, 'run.mjs'),
      `import { ${create} } from '@proxy-sdk/${name}'\ntry { ${create}() } catch (error) { console.log(error.message) }`,
    )
    const { stdout } = await run(process.execPath, ['run.mjs'], { cwd: folder })
    assert.match(
      stdout,
      new RegExp(
        `^@proxy-sdk/${name} needs AI SDK 6 or 7\\. The installed ${peer} is older: npm install`,
      ),
    )
  })
}

async function olderProject(
  t: TestContext,
  peer: string,
  file: string,
  createPeer: string,
): Promise<string> {
  const folder = folderInDist(t)
  cpSync(await builtPackages(), join(folder, 'node_modules'), { recursive: true })
  const at = join(folder, 'node_modules', peer)
  mkdirSync(at, { recursive: true })
  writeFileSync(
    join(at, 'package.json'),
    JSON.stringify({
      name: peer,
      type: 'module',
      exports: { '.': './index.js', './edge': './edge.js' },
    }),
  )
  writeFileSync(
    join(at, file),
    `export const ${createPeer} = () => Object.assign(() => {}, { languageModel() {} })`,
  )
  return folder
}
