import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'

import { aReadyTrack, aTenant } from '../support/fixtures.ts'
import { aShare, openPage } from '../support/share_visitor.ts'

it('the page of a share is in the first language of the browser that the pages have, as are its form and its errors', async () => {
  const { key, collection_id } = await aTenant()
  await aReadyTrack(key, collection_id)
  const { slug } = await aShare(key, collection_id)
  const open = (path: string, language: string, password?: string) =>
    openPage(path, password, env, undefined, { 'accept-language': language })
  const languageOf = ({ text }: { text: string }) => /<html lang="\w+" dir="\w+"/.exec(text)?.[0]
  const german = await open(`/s/${slug}`, 'tlh, de-CH;q=0.8, en;q=0.5')
  expect([languageOf(german), german.text.includes('<p>1 Titel ·')]).toEqual(['<html lang="de" dir="ltr"', true])
  expect(languageOf(await open(`/embed/s/${slug}`, 'ar-EG'))).toBe('<html lang="ar" dir="rtl"')
  for (const language of ['', 'tlh', '*', 'constructor', '-;,'])
    expect([language, languageOf(await open(`/s/${slug}`, language))]).toEqual([language, '<html lang="en" dir="ltr"'])
  const missing = await open('/s/missing-slug', 'fr')
  expect([languageOf(missing), missing.text.includes('Il n’y a rien')]).toEqual(['<html lang="fr" dir="ltr"', true])
  const { slug: shut } = await aShare(key, collection_id, { password: 'swordfish' })
  expect((await open(`/s/${shut}`, 'ja')).text).toContain('パスワード')
})
