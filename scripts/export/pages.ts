import { dataBlock, html, type Html } from '../../src/http/pages/html.ts'

/** The pages of a playable export. They work from any web space and from the disk, in any folder. */

const STYLE = `
  :root { color-scheme: light dark; --text: light-dark(#1c1d21, #eceef2); --soft: light-dark(#62646d, #a2a6b1); --line: light-dark(#e3e4e8, #2c2e35) }
  * { box-sizing: border-box }
  body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: light-dark(#fff, #17181c); margin: 0 auto; max-width: 60rem; padding: 1.5rem }
  h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1.25rem }
  h2 { font-size: 1.125rem; margin: 2rem 0 .75rem }
  a { color: inherit }
  p { color: var(--soft) }
  ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(10rem, 1fr)); gap: 1.25rem; list-style: none; margin: 0; padding: 0 }
  li a { display: block; text-decoration: none }
  li a:hover strong, li a:focus-visible strong { text-decoration: underline }
  li img { aspect-ratio: 1; background: var(--line); border-radius: 8px; display: block; height: auto; margin-bottom: .5rem; object-fit: cover; width: 100% }
  li strong, li span { display: block; overflow-wrap: anywhere }
  li span { color: var(--soft); font-size: .875rem }
  tonearm-player { display: block }
`

/**
 * Starts the player. URLs in the data block are relative, because the folder may be anywhere. From the disk, browsers load no modules, so
 * the page loads the player as a classic script.
 */
const START = `
  const data = document.querySelector('script[type$=json]')
  const session = JSON.parse(data.text, (key, value) => (key === 'url' ? new URL(value, document.baseURI).href : value))
  data.remove()
  const player = document.createElement('tonearm-player')
  player.setAttribute('base-url', new URL('.', document.baseURI).href)
  player.setAttribute('play-session-id', session.play_session.id)
  const block = document.createElement('script')
  block.type = 'application/json'
  block.text = JSON.stringify(session)
  player.append(block)
  document.querySelector('main').append(player)
  const script = document.createElement('script')
  if (location.protocol === 'file:') script.src = '../elements/player.classic.js'
  else Object.assign(script, { type: 'module', src: '../elements/player.js' })
  document.head.append(script)
`

const page = (title: string, body: Html, language = 'en') =>
  html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        <style>
          ${{ html: STYLE }}
        </style>
      </head>
      <body>
        ${body}
      </body>
    </html> `.html

/** Returns the page of a collection or playlist. `session` has the views of all tracks, with URLs that are relative to the page. */
export const playerPage = (title: string, session: object) =>
  page(
    title,
    html`<p><a href="../index.html">All recordings</a></p>
      <main><h1 dir="auto">${title}</h1></main>
      ${dataBlock(session)}
      <noscript
        ><p>The player needs JavaScript. The files are in the folder <a href="../media">media</a>.</p></noscript
      >
      <script>
        ${{ html: START }}
      </script>`,
  )

/** A collection or playlist on the first page. `cover` is null if it has no track. */
export interface Entry {
  href: string
  title: string
  subtitle: string
  cover: string | null
}

const entries = (heading: string, list: Entry[]) =>
  list.length === 0
    ? ''
    : html`<h2>${heading}</h2>
        <ul>
          ${list.map(
            ({ href, title, subtitle, cover }) =>
              html`<li>
                <a href="${href}"
                  >${cover === null ? '' : html`<img src="${cover}" alt="" loading="lazy" width="400" height="400" />`}<strong
                    dir="auto"
                    >${title}</strong
                  ><span dir="auto">${subtitle}</span></a
                >
              </li>`,
          )}
        </ul>`

/** Returns the first page, which links to all others. */
export const indexPage = (title: string, collections: Entry[], playlists: Entry[], exported_at: string) =>
  page(
    title,
    html`<main>
        <h1 dir="auto">${title}</h1>
        ${entries('Collections', collections)} ${entries('Playlists', playlists)}
      </main>
      <p>Exported from Tonearm on ${exported_at.slice(0, 10)}.</p>`,
  )
