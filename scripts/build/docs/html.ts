import hljs from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import css from 'highlight.js/lib/languages/css'
import ini from 'highlight.js/lib/languages/ini'
import json from 'highlight.js/lib/languages/json'
import python from 'highlight.js/lib/languages/python'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'

/** HTML of code, which is highlighted when the pages are built. */

const LANGUAGES = { bash, css, ini, json, python, sql, typescript, xml, yaml }
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language)
const ALIASES: Record<string, string> = { vue: 'xml', svelte: 'xml' }

/** The origin in examples. The page replaces it with its own, so that copied code runs. */
export const EXAMPLE_ORIGIN = 'https://audio.example.com'

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
export const escapeHtml = (text: string) => text.replace(/[&<>"]/g, (sign) => ENTITIES[sign]!)

/** Converts text with `code` in backticks. */
export const inlineCode = (text: string) => escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>')
/** Converts a description with `code` in backticks and addresses of guides. */
export const describedHtml = (text: string) =>
  inlineCode(text).replace(/\/docs\/[\w-]+(?:#[\w-]+)?/g, '<a href="$&">$&</a>')

/** One piece of code. Pieces in a group are alternatives in other languages, and the reader chooses one. */
export interface Sample {
  language: string
  code: string
}

const LABELS: Record<string, string> = {
  bash: 'curl',
  sh: 'Shell',
  ts: 'TypeScript',
  tsx: 'TypeScript',
  js: 'JavaScript',
  python: 'Python',
  json: 'JSON',
  html: 'HTML',
}

function highlight({ language, code }: Sample): string {
  const name = ALIASES[language] ?? language
  const html = hljs.getLanguage(name) ? hljs.highlight(code, { language: name }).value : escapeHtml(code)
  return html.replaceAll(EXAMPLE_ORIGIN, `<span class="origin">${EXAMPLE_ORIGIN}</span>`)
}

const labelOf = ({ language, code }: Sample) =>
  language === 'bash' && !code.includes('curl') ? 'Shell' : (LABELS[language] ?? language)

/** Returns a block of code with a button that copies it, and with tabs if there are several languages. `title` replaces the language of a single sample. */
export function codeBlock(samples: Sample[], title?: string): string {
  const label = title ?? labelOf(samples[0]!)
  const head =
    samples.length > 1
      ? `<div class="languages" role="group" aria-label="Language">${samples
          .map(
            (sample, at) =>
              `<button type="button" data-language="${sample.language}" aria-pressed="${at === 0}">${labelOf(sample)}</button>`,
          )
          .join('')}</div>`
      : `<span>${escapeHtml(label)}</span>`
  const blocks = samples.map(
    (sample, at) =>
      `<pre tabindex="0" data-language="${sample.language}"${at > 0 ? ' hidden' : ''}><code>${highlight(sample)}</code></pre>`,
  )
  return `<div class="sample"><div class="sample-head">${head}<button type="button" class="copy">Copy</button></div>${blocks.join('')}</div>`
}
