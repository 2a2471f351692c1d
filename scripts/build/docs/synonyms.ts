/** Words that readers search for, and that a page does not use or uses in passing, by the name of the page. The words of a page's subject, not whole questions. */
export const SYNONYMS: Record<string, string> = {
  index: 'get started, getting started, first steps, tutorial, hello world',
  backup: 'disaster recovery, snapshot, restore, dump',
  assistants: 'mcp, model context protocol, ai, agent, claude, cursor, llm, copilot',
  concepts:
    'idempotency, idempotent, retry, request id, authentication, bearer token, metadata, terminology, idempotency key, idempotent, safe retry',
  cost: 'pricing, price, billing, bill, fees, how much, dollars, storage cost, expensive, free',
  counting:
    'analytics, statistics, stats, views, viewers, listeners, play count, downloads counted, IAB, retention, metrics of listening',
  deploy:
    'self-hosting, self-host, install, production, hosting, docker, Cloudflare account, data residency, region, jurisdiction, GDPR',
  edit: 'chapters, chapter markers, update, rename, optimistic locking, version, conflict, If-Match',
  embed: 'iframe, website, web page, wordpress, html snippet, oembed, put a player on a page',
  errors: 'error codes, status codes, exceptions, failure, 400, 401, 403, 404, 409, 429, 500',
  events: 'event log, audit log, activity, polling, history, changes',
  feeds: 'podcast, rss, apple podcasts, spotify, episodes, private feed, subscribers, enclosure, xml',
  import: 'migrate, migration, bulk, rss, csv, bucket, switch from',
  keys: 'API key, token, authentication, authorization, access control, permissions, scopes, restricted, CORS, origin, allowed origins, domain, site, referrer, rotate, revoke, secret',
  limits: 'rate limits, quota, throttling, 429, maximum size, file size, too large, too many requests',
  listening: 'native app, mobile, iOS, Android, Flutter, own player, beacon, heartbeat, tracking',
  lists: 'pagination, paging, cursor, limit, offset, next page, filter, sort, query, bulk, batch',
  media: 'CDN, custom domain, cache, caching, bandwidth, egress',
  metrics: 'Prometheus, Grafana, monitoring, dashboard, observability',
  move: 'migrate, migration, export, import, transfer, switch, another account, another project',
  operate: 'monitoring, health check, upgrade, maintenance, status, logs',
  packages:
    'SDK, client library, npm, pip, React, Vue, Svelte, Next.js, Python, TypeScript, JavaScript, Node, component',
  play: 'playback, stream, streaming, play session, expiry, expires, signed URL, presigned URL, download, offline',
  player:
    'web component, custom element, JavaScript API, methods, attributes, events, CSS, theme, colors, autoplay, keyboard, speed',
  playlists: 'queue, mix, order, sort tracks, trash, soft delete, restore a track',
  processing:
    'transcode, encode, formats, input formats, supported formats, codecs, mp3, wav, flac, loudness, normalization, ffmpeg',
  recipes: 'examples, sample code, programs, tutorial',
  runbooks: 'incident, outage, emergency',
  scale: 'capacity, throughput, large, growth',
  settings: 'environment variables, configuration, options, env',
  share: 'password, protected link, public page, link, expire, share link, revoke',
  signed_sessions: 'JWT, token, sign on your own server, signing key, playback token, secure playback, stateless',
  speed: 'performance, latency, benchmark, fast',
  start: 'get started, getting started, localhost, install, run locally, curl tutorial, development',
  studio: 'dashboard, admin, web interface, UI, console',
  tags: 'ID3, metadata, artwork, cover art, album, artist, title',
  upload:
    'direct upload, resumable, tus, multipart, chunked, large files, parts, upload via link, from a URL, presigned, signed upload URL, PUT, Uppy, progress',
  uploader:
    'upload widget, drag and drop, dropzone, file picker, users, end users, browser, client-side, exposing a key',
  variants: 'bitrate, codec, quality, renditions, opus, aac, mp3, preview, formats',
  waveform: 'peaks, wavesurfer, levels, draw, canvas, own data, visualization',
  webhooks:
    'callback, notification, notify, signature, verify, HMAC, secret, signing secret, endpoint, local testing, test locally, retries, ready',
}
