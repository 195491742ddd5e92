import { Page } from '../ui/page.tsx'

export default function P() {
  return <Page title="account">soon</Page>
}
