import { escapeHtml, inlineCode } from './html.ts'

/** The frame of every page below `/docs`: head, bar, navigation. */

/** Addresses of the bundled scripts and styles. */
export interface Assets {
  script: string
  theme: string
  style: string
}

export interface Link {
  title: string
  url: string
}
export interface NavigationGroup {
  title: string
  links: Link[]
  /** Whether the group is unfolded on all pages. Others are unfolded only on their own pages. */
  isOpen?: boolean
}

export interface Page {
  /** Path of the page, without a slash at the end: `/docs/upload`. */
  url: string
  title: string
  description: string
  /** HTML of the main part. */
  content: string
  /** The same page as Markdown. */
  markdown: string
  /** Entries below the entry of this page in the navigation. */
  sections: Link[]
  /** `api` pages have a column for code. */
  kind: 'api' | 'guide'
}

function navigation(groups: NavigationGroup[], page: Page): string {
  const link = ({ title, url }: Link) => {
    const isCurrent = url === page.url
    const inner =
      isCurrent && page.kind === 'api' && page.sections.length > 0
        ? `<ul>${page.sections.map((section) => `<li><a href="${section.url}">${inlineCode(section.title)}</a></li>`).join('')}</ul>`
        : ''
    return `<li><a href="${url}"${isCurrent ? ' aria-current="page"' : ''}>${escapeHtml(title)}</a>${inner}</li>`
  }
  return groups
    .map(({ title, links, isOpen }) => {
      const list = `<ul>${links.map(link).join('')}</ul>`
      if (links.length === 1) return list
      const open = isOpen || links.some(({ url }) => url === page.url) ? ' open' : ''
      return `<details${open}><summary>${escapeHtml(title)}</summary>${list}</details>`
    })
    .join('')
}

const SEARCH_ICON =
  '<svg class="icon" viewBox="0 0 24 24" width="18" height="18" aria-hidden="true"><path d="M10 4a6 6 0 1 1 0 12 6 6 0 0 1 0-12Zm0-2a8 8 0 1 0 4.9 14.3l5.4 5.4 1.4-1.4-5.4-5.4A8 8 0 0 0 10 2Z"/></svg>'
const MENU_ICON =
  '<svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true"><path d="M3 6h18v2H3zm0 5h18v2H3zm0 5h18v2H3z"/></svg>'

/** The links to the sections of a guide. */
function contents({ sections, kind }: Page): string {
  if (kind === 'api' || sections.length < 2) return ''
  const links = sections.map(({ title, url }) => `<li><a href="${url}">${escapeHtml(title)}</a></li>`)
  return `<nav class="contents" aria-label="On this page"><p class="nav-label">On this page</p><ul>${links.join('')}</ul></nav>`
}

/** Returns a whole page as HTML. */
export function renderPage(page: Page, groups: NavigationGroup[], { script, theme, style }: Assets): string {
  const title = page.url === '/docs' ? 'Tonearm documentation' : `${page.title} · Tonearm`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escapeHtml(page.description)}">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="/cover/icon.jpg">
<link rel="alternate" type="text/markdown" href="${page.url === '/docs' ? '/docs/index' : page.url}.md">
<link rel="stylesheet" href="${style}">
<script src="${theme}"></script>
<script type="module" src="${script}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="bar">
<button type="button" class="button quiet bare" id="menu-button" aria-label="Navigation" aria-expanded="false" aria-controls="navigation">${MENU_ICON}</button>
<a class="brand" href="/docs" aria-label="Tonearm docs"><img src="/cover/icon.jpg" alt="" width="28" height="28"><span>Tonearm docs</span></a>
<button type="button" class="jump" id="search-button" aria-keyshortcuts="/ Control+K">${SEARCH_ICON}<span>Search</span><kbd>/</kbd></button>
<div class="bar-end"><button type="button" class="button small" id="key-button">Add key</button><a class="button quiet small" href="/">Studio</a></div>
</header>
<nav id="navigation" class="side" aria-label="Documentation">${navigation(groups, page)}</nav>
<main id="content" class="${page.kind}" tabindex="-1">${page.content}</main>
${contents(page)}
</body>
</html>
`
}
