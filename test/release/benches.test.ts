// `npm run bench`: what it offers are programs, and what the documentation calls is among them.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { SWAPS } from '../../bench/ablate/swaps.ts'
import { README, RUNTIME_NAMES, tableIn } from '../../bench/runtimes/table.ts'
import { NODE_FLAGS } from '../support/node.ts'

const root = join(import.meta.dirname, '..', '..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const bench = (...args: string[]) =>
  spawnSync(process.execPath, [...NODE_FLAGS, join(root, 'bench/run.ts'), ...args], {
    encoding: 'utf8',
  })

test('without a name it lists the benches: all are programs, and all benches that a page names are listed', () => {
  const { status, stdout } = bench()
  assert.equal(status, 0)
  const names = [...stdout.matchAll(/^  (\S+)$/gm)].map(([, name = '']) => name)
  assert.ok(names.includes('proxy'), stdout)
  for (const name of names)
    assert.doesNotMatch(
      read(`bench/${name}.ts`),
      /^export /m,
      `${name} gives others what they import, and does nothing by itself`,
    )
  for (const page of globSync(['*.md', 'docs/*.md'], { cwd: root })) {
    for (const [, name = ''] of read(page).matchAll(/npm run bench -- ([\w-]+)/g))
      assert.ok(names.includes(name), `${page}: ${name}`)
  }
})

test('an unknown bench is an error that lists the known ones', () => {
  const { status, stderr } = bench('nothing')
  assert.equal(status, 2)
  assert.match(stderr, /^there is no bench nothing\n/)
  assert.match(stderr, /^  proxy$/m)
})

/**
 * All that a file imports at run time, and what that imports in turn. What is no source of ours
 * stands in a program that a bench writes.
 */
function importedBy(file: string, found = new Set<string>()): Set<string> {
  for (const [, target = ''] of read(file).matchAll(/^import (?!type\b)[^']*'([^']+)'/gm)) {
    const path = target.startsWith('.') ? join(dirname(file), target) : target
    if (found.has(path)) continue
    found.add(path)
    if (target.startsWith('.') && target.endsWith('.ts')) importedBy(path, found)
  }
  return found
}

test('no bench imports the test runner', () => {
  assert.deepEqual(
    globSync('bench/*.ts', { cwd: root }).filter((file) => importedBy(file).has('node:test')),
    [],
  )
})

test('each replacement in the ablation bench finds its target', () => {
  for (const { name, file, from } of SWAPS)
    assert.equal(read(file).split(from).length, 2, `${name}: ${file}`)
})

test('the table of runtimes is complete', () => {
  const rows = tableIn(read(README))
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
  const [head = [], , ...body] = rows
  assert.deepEqual(
    body.map(([, name]) => name),
    RUNTIME_NAMES,
  )
  const methods = [...read('bench/runtimes/methods.js').matchAll(/^  async '?([\w ]+?)'?\(/gm)]
  assert.deepEqual(
    head.slice(3, -1),
    methods.map(([, name]) => name),
  )
})
