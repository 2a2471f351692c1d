import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

import { keyOf, type Language } from '../src/studio/base/text.ts'
import { languageFiles, readTexts, renameText } from './shared/studio_texts.ts'

/**
 * `npm run texts`: prints the texts of the studio that a language does not translate, as lines to complete and add to its file. Until then, the studio
 * shows them in English. `npm run texts -- de` prints one language.
 *
 * `npm run texts -- --rename 'OLD' 'NEW'` keeps the translations of a text whose English words have changed, but not its meaning.
 */

const pathOf = (locale: string) => `src/studio/texts/${locale}.ts`
const languages = languageFiles()

async function list(locale: string): Promise<void> {
  const { texts } = (await import(`../${pathOf(locale)}`)) as Language
  const keys = new Set(Object.keys(texts).map(keyOf))
  const { texts: english } = readTexts()
  const missing = [...english].filter(([text]) => !keys.has(keyOf(text)))
  console.log(`${pathOf(locale)}: ${english.size - missing.length} of ${english.size} texts are translated`)
  const forms = new Intl.PluralRules(locale).resolvedOptions().pluralCategories.map((category) => `${category}: ''`)
  for (const [text, one] of missing)
    console.log(`  ${JSON.stringify(text)}: ${one === undefined ? "''" : `{ ${forms.join(', ')} }`},`)
}

function rename(before: string, after: string): void {
  for (const path of languages.map(pathOf)) writeFileSync(path, renameText(readFileSync(path, 'utf8'), before, after))
  execFileSync('oxfmt', languages.map(pathOf), { stdio: 'inherit' })
}

const [first, before, after] = process.argv.slice(2)
if (first === '--rename' && before && after) rename(before, after)
else for (const locale of languages) if (!first || first === locale) await list(locale)
