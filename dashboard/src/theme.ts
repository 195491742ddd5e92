// The Mantine theme. Colours are listed from light to dark.
import { createTheme, type MantineColorsTuple } from '@mantine/core'

const pine: MantineColorsTuple = [
  '#e8f6ef',
  '#d0ebde',
  '#a3d9c0',
  '#74c6a1',
  '#4fb888',
  '#35a876',
  '#1f8a60',
  '#17704e',
  '#105a3e',
  '#07402b',
]
const gray: MantineColorsTuple = [
  '#f7f8f7',
  '#f0f2f1',
  '#e5e8e6',
  '#d6dad8',
  '#b9c0bc',
  '#949c98',
  '#626b67',
  '#48504c',
  '#2f3633',
  '#1a1f1d',
]
const dark: MantineColorsTuple = [
  '#dce1de',
  '#b9c1bd',
  '#98a19d',
  '#6d7672',
  '#3b433f',
  '#2c3330',
  '#202624',
  '#161a18',
  '#101312',
  '#0a0c0b',
]

/** The header of a dialog: the close button stays beside the first line of a long title. */
const head = {
  header: { alignItems: 'flex-start' },
  title: {
    paddingTop: 2,
    fontSize: 17,
    fontWeight: 650,
    lineHeight: 1.4,
    minWidth: 0,
    overflowWrap: 'anywhere',
  },
} as const

/** The Mantine theme: colours, fonts and defaults of components. */
export const theme = createTheme({
  primaryColor: 'pine',
  primaryShade: { light: 7, dark: 7 },
  colors: { pine, gray, dark },
  fontFamily:
    "Inter, ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, 'Open Sans', 'Helvetica Neue', sans-serif",
  fontFamilyMonospace:
    "ui-monospace, 'SF Mono', 'JetBrains Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace",
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Button: { defaultProps: { size: 'sm' } },
    InputWrapper: { styles: { description: { textWrap: 'pretty' } } },
    // Mantine's own scroll lock writes a <style>; ui/base.css locks instead.
    Modal: {
      styles: head,
      defaultProps: {
        lockScroll: false,
        centered: true,
        radius: 'lg',
        transitionProps: { duration: 120 },
      },
    },
    Drawer: {
      styles: head,
      defaultProps: { lockScroll: false, transitionProps: { duration: 120 } },
    },
  },
})
