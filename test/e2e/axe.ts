import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

import type { Page } from 'playwright-core'

interface Violation {
  id: string
  nodes: { html: string; failureSummary?: string }[]
}

/** The axe rules that depend on the colors of a page. */
export const COLOR_RULES = ['color-contrast', 'link-in-text-block']

/** Returns the violations that axe finds in a page, including best practices and shadow trees. `rules` limits the check to some rules. */
export async function findings(page: Page, rules?: string[]): Promise<string[]> {
  const path = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
  // The script is evaluated through the debugger, because the page's policy blocks other scripts.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(await readFile(path, 'utf8'))
  const violations = await page.evaluate(async (runOnly) => {
    const { axe } = window as unknown as { axe: { run: (options: object) => Promise<{ violations: Violation[] }> } }
    return (
      await axe.run({ resultTypes: ['violations'], selectors: false, preload: false, ...(runOnly && { runOnly }) })
    ).violations
  }, rules)
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('; ')}`,
  )
}
