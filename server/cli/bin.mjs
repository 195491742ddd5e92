#!/usr/bin/env node
process.argv.splice(2, 0, 'server/cli/main.ts')
await import('../../scripts/launch.mjs')
