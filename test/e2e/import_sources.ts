import type { IncomingMessage, ServerResponse } from 'node:http'

import { AwsV4Signer } from 'aws4fetch'

/** The sources of the import tests: a podcast feed, and a bucket with the interface of S3. */

export type Answer = (request: IncomingMessage, response: ServerResponse) => unknown

/** Three items, the newest first. `ORIGIN` is the server. */
export const ITEMS = [
  `<item><title>Three</title><guid>three</guid><pubDate>Tue, 03 Mar 2026 06:00:00 GMT</pubDate>
    <enclosure url="/three.mp3" length="1" type="audio/mpeg"/><itunes:season>2</itunes:season><itunes:episode>3</itunes:episode>
    <itunes:explicit>yes</itunes:explicit><content:encoded><![CDATA[<p>Some <b>notes</b> with <a href="https://example.com/a">a link</a></p>
    <ul><li>first</li><li>second</li></ul>]]></content:encoded></item>`,
  `<item><title>Two &amp;amp; a half</title><guid>two</guid><pubDate>Mon, 02 Mar 2026 06:00:00 GMT</pubDate><itunes:author>A guest</itunes:author>
    <enclosure url="ORIGIN/two" length="1" type="constructor"/><podcast:chapters url="ORIGIN/chapters.json" type="application/json+chapters"/>
    <itunes:image href="ORIGIN/cover.jpg?of=two"/></item>`,
  `<item><title>Trailer</title><guid>one</guid><pubDate>Sun, 01 Mar 2026 06:00:00 GMT</pubDate><itunes:episodeType>trailer</itunes:episodeType>
    <enclosure url="ORIGIN/one.mp3" length="1" type="audio/mpeg"/></item>`,
]
/** Returns a feed whose files are on a server. */
export const feedOf = (origin: string, items: string[]) =>
  `<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"
  xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:podcast="https://podcastindex.org/namespace/1.0"
  xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>Counting</title><itunes:author>Ana</itunes:author>
  <description>About numbers</description><itunes:image href="ORIGIN/cover.jpg"/><podcast:guid>counting</podcast:guid>
  ${items.join('')}</channel></rss>`.replaceAll('ORIGIN', origin)

/** The keys of the bucket. */
export const KEYS = { accessKeyId: 'KEY', secretAccessKey: 'SECRET' }

/** Whether a URL has the signature of the keys. */
async function isSigned(url: URL): Promise<boolean> {
  const given = url.searchParams.get('X-Amz-Signature')
  const datetime = url.searchParams.get('X-Amz-Date')!
  url.searchParams.delete('X-Amz-Signature')
  const signer = new AwsV4Signer({ ...KEYS, url: url.href, service: 's3', region: 'auto', signQuery: true, datetime })
  return (await signer.sign()).url.searchParams.get('X-Amz-Signature') === given
}

/** Returns the answers of the bucket `bucket`, whose list has two objects on a page. An object that is null is listed, but its file is gone. */
export function answerOf(objects: Map<string, Buffer | null>): Answer {
  return async (request, response) => {
    const url = new URL(request.url!, `http://${request.headers.host}`)
    const { pathname, searchParams } = url
    if (!(await isSigned(new URL(url)))) return response.writeHead(403).end()
    if (pathname !== '/bucket') {
      const file = objects.get(decodeURIComponent(pathname.slice('/bucket/'.length)))
      return response.writeHead(file ? 200 : 404).end(file)
    }
    const from = Number(searchParams.get('continuation-token') ?? 0)
    const listed = [...objects].filter(([key]) => key.startsWith(searchParams.get('prefix')!))
    const contents = listed
      .slice(from, from + 2)
      .map(
        ([key, file]) => `<Contents><Key>${encodeURIComponent(key)}</Key><Size>${file?.length ?? -1}</Size></Contents>`,
      )
    const next = from + 2 < listed.length ? `<NextContinuationToken>${from + 2}</NextContinuationToken>` : ''
    response.end(
      `<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>${next !== ''}</IsTruncated>${contents.join('')}${next}</ListBucketResult>`,
    )
  }
}
