// A project as a user of the client packages has one: their built files as npm would install them,
// beside the AI SDK of one major version. The project lies in the repository's ignored `dist/`, so
// that bundlers find everything else where npm has put it for the repository.
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { buildPackages, CLIENT_PACKAGES } from '../../scripts/build-packages.ts'

export const ROOT = join(import.meta.dirname, '..', '..')

/**
 * TABLE of what a project finds under a name, by the major version of the AI SDK, and the folder in
 * the repository's node_modules.
 */
const INSTALLED = {
  7: {
    ai: 'ai',
    '@ai-sdk/google': '@ai-sdk/google',
    '@ai-sdk/google-vertex': '@ai-sdk/google-vertex',
    '@ai-sdk/openai': '@ai-sdk/openai',
    '@ai-sdk/anthropic': '@ai-sdk/anthropic',
  },
  6: {
    ai: 'ai-6',
    '@ai-sdk/google': 'ai-sdk-google-3',
    '@ai-sdk/google-vertex': 'ai-sdk-google-vertex-4',
    '@ai-sdk/openai': 'ai-sdk-openai-3',
    '@ai-sdk/anthropic': 'ai-sdk-anthropic-3',
  },
} as const

export type Major = keyof typeof INSTALLED
export const MAJORS: readonly Major[] = [6, 7]

/** An empty folder below `dist/`, which goes with the test. */
export function folderInDist(t: TestContext): string {
  mkdirSync(join(ROOT, 'dist'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, 'dist', 'project-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Where built packages lie, in a folder for each state of what they are made from. */
const BUILDS = join(ROOT, 'node_modules', '.cache', 'client-packages')

/** What the client packages are made from, and with. */
const BUILT_FROM = [
  ...CLIENT_PACKAGES.flatMap(({ folder }) => [
    `${folder}/src/**/*.ts`,
    `${folder}/package.json`,
    `${folder}/*.md`,
  ]),
  'packages/tsconfig.json',
  'tsconfig.json',
  'scripts/build-packages.ts',
  'package-lock.json',
  'LICENSE',
]

function hashOfSources(): string {
  const hash = createHash('sha256').update(process.env['GITHUB_REPOSITORY'] ?? '')
  for (const file of globSync(BUILT_FROM, { cwd: ROOT }).sort())
    hash.update(`\0${file}\0`).update(readFileSync(join(ROOT, file)))
  return hash.digest('hex').slice(0, 16)
}

let built: Promise<string> | undefined

/**
 * The client packages, built once for all files of tests until their sources change (6 s of CPU),
 * in a folder that serves as a `node_modules`. Nobody writes into it.
 */
export function builtPackages(): Promise<string> {
  return (built ??= build())
}

async function build(): Promise<string> {
  const folder = join(BUILDS, hashOfSources())
  if (existsSync(folder)) return folder
  mkdirSync(BUILDS, { recursive: true })
  const making = mkdtempSync(`${folder}.`)
  try {
    await buildPackages(making, CLIENT_PACKAGES)
    // Whoever builds at the same time never sees half of it.
    renameSync(making, folder)
  } catch (error) {
    rmSync(making, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
  return folder
}

/** Makes a project; gives its folder. */
export async function makeProject(t: TestContext, major: Major): Promise<string> {
  const folder = folderInDist(t)
  cpSync(await builtPackages(), join(folder, 'node_modules'), { recursive: true })
  link(folder, major)
  return folder
}

/** Puts the AI SDK of a major version into a project. */
export function link(folder: string, major: Major): void {
  for (const [name, installed] of Object.entries(INSTALLED[major])) {
    const at = join(folder, 'node_modules', name)
    mkdirSync(dirname(at), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', installed), at)
  }
}

/** What a test uses of a project: the types are those of the newer AI SDK. */
export interface Loaded {
  ai: typeof import('ai')
  core: typeof import('@proxy-sdk/core')
  genai: typeof import('@proxy-sdk/genai')
  express: typeof import('@proxy-sdk/genai-express')
  openai: typeof import('@ai-sdk/openai')
  anthropic: typeof import('@ai-sdk/anthropic')
}

/** TABLE of what is loaded. */
const MODULES: { [Name in keyof Loaded]: string } = {
  ai: 'ai',
  core: '@proxy-sdk/core',
  genai: '@proxy-sdk/genai',
  express: '@proxy-sdk/genai-express',
  openai: '@ai-sdk/openai',
  anthropic: '@ai-sdk/anthropic',
}

/** Writes a file of the project that has all of them, and gives its path. */
export function entryOf(folder: string): string {
  const entry = join(folder, 'all.mjs')
  writeFileSync(
    entry,
    Object.entries(MODULES)
      .map(([name, from]) => `export * as ${name} from '${from}'\n`)
      .join(''),
  )
  return entry
}

/** Imports them as that file does. */
export async function load(folder: string): Promise<Loaded> {
  return (await import(pathToFileURL(entryOf(folder)).href)) as Loaded
}
