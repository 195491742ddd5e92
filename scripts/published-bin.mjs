#!/usr/bin/env node
// The published command line: finds a recent Node, wherever the package is installed.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findNode, handOver } from './hand-over.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const node = findNode((name) => {
  try {
    return join(
      dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)),
      'bin',
      'node',
    )
  } catch {
    return undefined
  }
})
handOver(
  node,
  [join(here, 'dist', 'server', 'cli', 'main.js'), ...process.argv.slice(2)],
  join(here, '.compiled'),
)
