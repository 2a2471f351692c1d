import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

import type { Page } from 'playwright-core'

interface Violation {
  id: string
  nodes: { html: string; failureSummary?: string }[]
}

/** What axe finds wrong with a page, its best practices counted too; shadow trees are looked into. */
export async function findings(page: Page): Promise<string[]> {
  const path = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
  // Through the debugger, because the page's policy lets no script in.
  await page.evaluate(await readFile(path, 'utf8'))
  const violations = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run: () => Promise<{ violations: Violation[] }> } }
    return (await axe.run()).violations
  })
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('; ')}`,
  )
}
