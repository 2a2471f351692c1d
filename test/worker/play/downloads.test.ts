import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'

import { isBot } from '../../../src/http/count_download.ts'
import worker from '../../../src/index.ts'
import { aPlaySession, ok } from '../support/api.ts'
import { aReadyTrack, aTenant, fileRows } from '../support/fixtures.ts'
import { aShare } from '../support/share_visitor.ts'

/** Tests that downloads are counted (docs/counting.md). */

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/153.0.0.0 Safari/537.36'
/** User-Agents that real clients send. */
// cspell:disable
const COUNTED = [
  BROWSER,
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Linux; Android 6.0; CUBOT MAX) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/72.0.3626.121 Mobile Safari/537.36',
  'Mozilla/5.0 (Android 14; Mobile; rv:131.0) Gecko/131.0 Firefox/131.0',
  'Opera/9.80 (Windows NT 6.1; U) Presto/2.12.388 Version/12.18',
  'AntennaPod/3.4.0',
  'AntennaPod/3.4.0 (Linux;Android 10; CUBOT X20 PRO)',
  'Dalvik/2.1.0 (Linux; U; Android 9; CUBOT_X19 Build/PPR1)',
  'Scandinavian Radio/1.0',
  'Overcast/3.0 (+http://overcast.fm/; iOS podcast app)',
  'PodcastAddict/v5 (+https://podcastaddict.com/; Android podcast app)',
  'Pocket Casts',
  'Castro 2023.5/1470',
  'Podcasts/1.0',
  'gPodder/3.11.4 (+http://gpodder.org/) Linux',
  'AppleCoreMedia/1.0.0.20A362 (iPhone; U; CPU OS 16_0 like Mac OS X; en_us)',
  'MyMusic/1 CFNetwork/1404.0.5 Darwin/22.3.0',
  'ExoPlayerLib/2.19',
  'AndroidXMedia3/1.4.1',
  'Dalvik/2.1.0 (Linux; U; Android 13; FP4 Build/TKQ1.230127.002)',
  'VLC/3.0.18 LibVLC/3.0.18',
  'Lavf/60.3.100',
  'Spotify/8.9.42 iOS/17.4 (iPhone15,2)',
  'Important Listens/1.0',
  'fuboTV/4.75.0 (Linux;Android 9; AFTDCT31 Build/PS7664.3772N) FuboPlayer/v1.34.0',
  'okhttp/4.12.0',
  'Dart/3.3 (dart:io)',
  'node',
  'undici',
  'axios/1.7.7',
  'python-requests/2.28.1',
  'python-httpx/0.27.2',
  'Go-http-client/2.0',
  'GuzzleHttp/7',
  'Java/17.0.9',
  'curl/8.5.0',
  'Wget/1.21',
  'Example/1.0',
]
const BOTS = [
  'atc/1.0 watchOS/6.2 model/Watch3,3 hwp/t8004 build/17T529 (6; dt:155)',
  'Spotify/1.0',
  'AnchorImport/1.0',
  'atlas-transcribe/1.0',
  'Podplay-Podcast-Sync/1.0 (+https://podplay.com/articles/contact)',
  'Audiomack Podcast Processor/1.0 (https://audiomack.com/)',
  'SharingUIService/1 CFNetwork/1490.0.4 Darwin/23.2.0',
  'ShareSheetUI/1 CFNetwork/1474 Darwin/23.0.0',
  'Mastodon/4.3.9 (http.rb/5.2.0; +https://mastodon.example/)',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/131.0.0.0 Safari/537.36',
  'Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)',
  'Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)',
  'Twitterbot/1.0',
  'CCBot/2.0 (https://commoncrawl.org/faq/)',
  'TelegramBot (like TwitterBot)',
  'Scrapy/2.9.0 (+https://scrapy.org)',
  'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
  'meta-externalagent/1.1',
  'WhatsApp/2.21.12.21 A',
  'Feedfetcher-Google; (+http://www.google.com/feedfetcher.html; 1 subscribers; feed-id=4653447469100830145)',
  'Google-NotebookLM',
  'AppEngine-Google; (+http://code.google.com/appengine; appid: s~snapchat-proxy)',
  'Overcast/1.0 Podcast Sync (1 subscribers; feed-id=1234567; +http://overcast.fm/)',
  'Pinecast/Importer 1.1',
  'Podcast Transcriber 2.0 (https://example.com/podcast-transcriber)',
  'SimplePie/1.3.1 (Feed Parser; http://simplepie.org; Allow like Gecko) Build/20121030175911',
  'Quora Link Preview/1.0 (http://www.quora.com)',
  'ELB-HealthChecker/2.0',
  'Uptime-Kuma/1.23.16',
  'kube-probe/1.15',
  'W3C_Validator/1.767',
  'ChatGPT-User/1.0',
]
// cspell:enable

async function aDownload(scope: 'collection' | 'track') {
  const { key, collection_id, organization_id } = await aTenant()
  const track_id = await aReadyTrack(key, collection_id)
  for (const { path, size } of await fileRows(track_id)) await env.MEDIA.put(path, new Uint8Array(size))
  const id = scope === 'track' ? track_id : collection_id
  const { play_session_id } = await aPlaySession(key, scope, id, { is_downloadable: true })
  const send = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const context = createExecutionContext()
    const request = new Request(`https://tonearm.test${path}`, {
      method,
      redirect: 'manual',
      headers: { 'user-agent': BROWSER, ...headers },
    })
    const response = await worker.fetch(request, env, context)
    await response.arrayBuffer()
    await waitOnExecutionContext(context)
    return response.status
  }
  const today = new Date(Date.now()).toISOString().slice(0, 10)
  const downloads = async (scope: string, id: string) =>
    (await ok('GET', `/v1/stats/${scope}/${id}?from=${today}`, { key })).totals.downloads
  const file = `/v1/play/${play_session_id}/${track_id}/mp3-128/download`
  const counted = async () => [
    await downloads('organization', organization_id),
    await downloads('collection', collection_id),
    await downloads('track', track_id),
  ]
  const { id: share_id, slug } = await aShare(key, collection_id, { is_downloadable: true })
  /** The downloads of the share by source. The last row is everything else. */
  const sources = async () =>
    (await ok('GET', `/v1/stats/share/${share_id}?from=${today}&by=source`, { key })).rows.map(
      ({ key: source, downloads }: { key: string | null; downloads: number }) => [source, downloads],
    )
  const link = (place = '') => `/s/${slug}${place}/${track_id}.mp3`
  return { send, counted, file, zip: `/zip/${play_session_id}`, link, sources }
}

it('each URL of a file and each ZIP is a download, but the ZIP of a collection does not count for its tracks', async () => {
  const { send, counted, file, zip } = await aDownload('collection')
  expect([await send(file), await send(file), await send(zip)]).toEqual([200, 200, 200])
  expect(await counted()).toEqual([3, 3, 2])
})

it('the ZIP of a single track is a download of the track', async () => {
  const { send, counted, zip } = await aDownload('track')
  await send(zip)
  expect(await counted()).toEqual([1, 0, 1])
})

it('apps and HTTP clients are counted, and bots are not', async () => {
  expect(COUNTED.filter(isBot)).toEqual([])
  expect(BOTS.filter((agent) => !isBot(agent))).toEqual([])
  expect(isBot(null)).toBe(false)

  const { send, counted, file, zip } = await aDownload('collection')
  expect(await send(file, { 'user-agent': 'AntennaPod/3.4.0' })).toBe(200)
  expect(await send(zip, { 'user-agent': 'curl/8.5.0' })).toBe(200)
  expect(await counted()).toEqual([2, 2, 1])
})

it('bots, listeners who have opted out, HEAD requests and refused downloads are not counted', async () => {
  const { send, counted, file, zip } = await aDownload('collection')
  expect(await send(file, { 'user-agent': BOTS[0]! })).toBe(200)
  expect(await send(zip, { 'user-agent': BOTS.at(-1)! })).toBe(200)
  expect(await send(file, { 'sec-gpc': '1' })).toBe(200)
  for (const path of [file, zip]) expect(await send(path, {}, 'HEAD')).toBe(200)
  expect(await send(file.replace('mp3-128', 'mp3-999'))).toBe(404)
  expect(await counted()).toEqual([0, 0, 0])
})

it('a link to a file is a download of its track, collection and share, with the source file or feed', async () => {
  const { send, counted, link, sources } = await aDownload('collection')
  expect([await send(link()), await send(link('/feed')), await send(link('/feed'))]).toEqual([302, 302, 302])
  expect(await counted()).toEqual([3, 3, 3])
  expect(await sources()).toEqual([
    ['feed', 2],
    ['file', 1],
  ])
})

it('a link to a file counts the start of the file, and not a test for ranges, the rest, a check or a HEAD request', async () => {
  const { send, counted, link } = await aDownload('collection')
  const ranges = async (...all: string[]) => {
    const before = (await counted())[0]!
    for (const range of all) expect(await send(link(), { range })).toBe(302)
    return (await counted())[0]! - before
  }
  const whole = ['bytes=0-', 'bytes=0-2', 'bytes=00-99', 'Bytes=0-9, 20-29', 'seconds=0-1', 'bytes=x']
  expect(await ranges(...whole)).toBe(whole.length)
  expect(await ranges('bytes=0-0', 'bytes=0-1', 'bytes=1-', 'bytes=100-200', 'bytes=-500')).toBe(0)
  const before = await counted()
  expect(await send(link(), {}, 'HEAD')).toBe(200)
  for (const name of ['if-none-match', 'if-modified-since', 'sec-gpc'])
    expect(await send(link(), { [name]: name === 'sec-gpc' ? '1' : '"etag"' })).toBe(302)
  expect(await send(link(), { 'user-agent': 'Spotify/1.0' })).toBe(302)
  expect(await send(link().replace('.mp3', '.flac'))).toBe(404)
  expect(await counted()).toEqual(before)
})
