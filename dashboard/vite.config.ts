// How the dashboard is built. `dashboard/build.ts` calls it; `npx vite dashboard` gives a
// development server (proxying the API to a running `npm start`).
import {
  convertCssVariables,
  defaultCssVariablesResolver,
  mergeMantineTheme,
  DEFAULT_THEME,
} from '@mantine/core'
import { basename } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { theme } from './src/theme.ts'

const SERVER = 'http://localhost:8484'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), themeVariables()],
  build: {
    target: 'es2023',
    // The content policy allows no data: scripts or styles, and small files cost nothing here.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  css: {
    modules: {
      // No hashes, which do not compress: files of CSS modules have different names.
      generateScopedName: (name, path) => `${basename(path, '.module.css')}-${name}`,
    },
  },
  server: { proxy: { '/api': SERVER, '/proxy': SERVER, '/openapi.json': SERVER } },
})

/**
 * The theme's variables as a style sheet. Mantine would write them into a `<style>` at run time,
 * which the content policy forbids.
 */
function themeVariables(): Plugin {
  const id = 'virtual:theme-variables.css'
  return {
    name: 'theme-variables',
    resolveId: (source) => (source === id ? `\0${id}` : null),
    load: (source) =>
      source === `\0${id}`
        ? convertCssVariables(
            defaultCssVariablesResolver(mergeMantineTheme(DEFAULT_THEME, theme)),
            ':root',
          )
        : null,
  }
}
