import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

import { keyOf, type Language } from '../src/studio/base/text.ts'
import { languageFiles, pluralNumbers, readTexts, renameText } from './shared/studio_texts.ts'

/**
 * `npm run texts`: prints the texts of the studio that a language does not translate, as lines to complete and add to its file. Until then, the studio
 * shows them in English. `npm run texts -- de` prints one language.
 *
 * `npm run texts -- --rename 'OLD' 'NEW'` keeps the translations of a text whose English words have changed in the code, but not their meaning. For a text
 * with a number, both are the form `other`.
 */

const pathOf = (locale: string) => `src/studio/texts/${locale}.ts`
const languages = languageFiles()

async function list(locale: string): Promise<void> {
  const { texts } = (await import(`../${pathOf(locale)}`)) as Language
  const keys = new Set(Object.keys(texts).map(keyOf))
  const { texts: english } = readTexts()
  const missing = [...english].filter(([text]) => !keys.has(keyOf(text)))
  console.log(`${pathOf(locale)}: ${english.size - missing.length} of ${english.size} texts are translated`)
  const forms = [...pluralNumbers(locale).keys()].map((category) => `${category}: ''`)
  for (const [text, one] of missing)
    console.log(`  ${JSON.stringify(text)}: ${one === undefined ? "''" : `{ ${forms.join(', ')} }`},`)
}

function rename(before: string, after: string): void {
  const renamed = languages.map(pathOf).flatMap((path) => {
    const source = renameText(readFileSync(path, 'utf8'), before, after)
    return source === null ? [] : [{ path, source }]
  })
  if (renamed.length === 0) fail(`No language translates "${before}"`)
  for (const { path, source } of renamed) writeFileSync(path, source)
  execFileSync(
    'oxfmt',
    renamed.map(({ path }) => path),
  )
  console.log(`${renamed.length} languages keep the translation of "${after}"`)
  const used = new Set([...readTexts().texts.keys()].map(keyOf))
  if (!used.has(keyOf(after))) fail(`The code does not contain "${after}" yet`)
}

function fail(message: string): never {
  console.error(`${message} (docs/development/where.md#texts-of-the-studio)`)
  process.exit(1)
}

const [first, before, after] = process.argv.slice(2)
if (first === '--rename') {
  if (!before || !after) fail("Usage: npm run texts -- --rename 'OLD' 'NEW'")
  rename(before, after)
} else if (first && !languages.includes(first)) fail(`There is no ${pathOf(first)}`)
else for (const locale of languages) if (!first || first === locale) await list(locale)
