import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

/** The styles and the native controls of the studio. */

const studio = join(import.meta.dirname, '../../src/studio')

/** Returns the lines of the studio's files with an ending that match, with their paths. */
async function linesWith(ending: string, pattern: RegExp): Promise<string[]> {
  const paths = (await readdir(studio, { recursive: true })).filter((path) => path.endsWith(ending))
  const found = await Promise.all(
    paths.map(async (path) =>
      (await readFile(join(studio, path), 'utf8'))
        .split('\n')
        .filter((line) => pattern.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    ),
  )
  return found.flat()
}

test('all texts have one of the five sizes', async () => {
  expect(await linesWith('.css', /font(-size)?:(?!.*(var\(--type-[a-z]+\)|: inherit;)).*\d/)).toEqual([])
})

test('no page has a native select, or a disclosure without the chevron of the studio', async () => {
  expect(await linesWith('.tsx', /<(select|optgroup)\b/)).toEqual([])
  expect((await linesWith('.tsx', /<details\b/)).filter((line) => !line.startsWith('ui/'))).toEqual([])
})
