import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import * as z from 'zod'

import { Environment } from '../container/service/settings.ts'
import { CATALOG } from '../src/contract/catalog.ts'
import { EFFECTS } from '../src/contract/effect.ts'
import { ERROR_STATUS } from '../src/contract/error_status.ts'
import { ERROR_MEANINGS } from '../src/contract/errors.ts'
import { EVENTS } from '../src/contract/event.ts'
import { codecOf, CODECS, type AudioCodec } from '../src/contract/facts.ts'
import { operations } from '../src/contract/index.ts'
import type { Operation } from '../src/contract/operation.ts'
import { FILE_ERRORS, SERVICE_ERRORS, SOURCE_ERRORS, TRACK_ERRORS, WARNINGS } from '../src/contract/track_errors.ts'
import { amount, standardLimits } from './shared/limits.ts'
import { ADDRESSES, PLACES, root, SETTINGS } from './shared/settings.ts'

/**
 * `npm run docs`: generates the tables of docs/errors.md, docs/events.md, docs/keys.md, docs/limits.md, docs/settings.md and docs/variants.md from the
 * code. With `--check`, it writes nothing, and fails if a table is outdated or README.md has more than `README_LINES` lines.
 */

const README_LINES = 150

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const code = (text: string) => (text ? `\`${text}\`` : '')

/** Returns a Markdown table with the layout that oxfmt generates, so that `npm run format` does not change it. */
function table(head: string[], rows: string[][]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')))
  const widths = head.map((_, at) => Math.max(3, ...cells.map((row) => row[at]!.length)))
  const line = (row: string[]) => `| ${row.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`
  const [first, ...body] = cells
  return [line(first!), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n')
}

const meanings = (codes: Record<string, string>) =>
  table(
    ['`code`', 'Meaning'],
    Object.entries(codes).map(([name, meaning]) => [code(name), meaning]),
  )

/** Parses lines of the form `NAME = "value" # meaning` in a part of wrangler.toml. The meaning is the comment after the value. */
function wranglerLines(from: string, to: string, line: RegExp): Record<string, string>[] {
  const part = read('wrangler.toml').split(from)[1]!.split(to)[0]!
  const lines = part.trim().split('\n')
  return lines.map((text) => {
    const { groups } = line.exec(text.trim()) ?? {}
    if (!groups) throw new Error(`wrangler.toml: add a comment that describes this line: ${text}`)
    return groups
  })
}
const vars = wranglerLines('[vars]\n', '\n\n', /^(?<name>\w+) = "(?<standard>.*?)" # (?<meaning>.+)$/)
const declared = wranglerLines('required = [\n', ']', /^"(?<name>\w+)", # (?<meaning>.+)$/)
const addresses = declared.filter(({ name }) => [...ADDRESSES, ...PLACES].includes(name!))
const secrets = declared.filter((secret) => !addresses.includes(secret))
const setting = ({ name, standard, meaning }: Record<string, string | undefined>) => [
  code(name ?? ''),
  code(standard ?? ''),
  (meaning ?? '').replace(/https?:\/\/\S+/, '`$&`'),
]

function transcoderSettings(): string[][] {
  const { properties = {} } = z.toJSONSchema(Environment, { io: 'output' })
  return Object.entries(properties).map(([name, property]) => {
    const { default: standard, description } = property as { default?: string | number; description?: string }
    if (!description) throw new Error(`container/service/settings.ts does not describe ${name}`)
    return setting({ name, standard: String(standard ?? ''), meaning: description })
  })
}

const VARIANTS: Record<string, string> = {
  'aac-160': 'everything; plays everywhere and comes first in play views',
  'mp3-128': 'everything',
  'opus-96': 'everything; the smallest',
  lossless: 'lossless sources only',
  preview: 'the first 30 s, faded',
  waveform: "peaks in BBC audiowaveform's format, version 2",
  analysis: 'loudness (EBU R 128), peaks and technical facts',
  original: 'the file itself, as it was uploaded',
}

function catalogue(): string {
  const rows = CATALOG.map(({ index, codec, bitrate, extension }) => {
    const content = VARIANTS[index]
    if (!content) throw new Error(`scripts/docs.ts does not describe the variant ${index}`)
    return [
      code(index),
      codec ? CODECS[codec].label : extension.toUpperCase(),
      bitrate ? `${bitrate} kbit/s` : '',
      content,
    ]
  })
  return table(['`index`', 'Format', 'Bitrate', 'Made of'], rows)
}

function bitrateRange(bitrates: ReturnType<typeof codecOf>['bitrates']): string {
  if (!bitrates || 'length' in bitrates) return bitrates?.join(', ') ?? 'none'
  const { least, most, most_mono } = bitrates
  return `${least} to ${most}${most_mono < most ? `; ${most_mono} at most with one channel` : ''}`
}

function codecs(): string {
  const rows = (Object.keys(CODECS) as AudioCodec[]).map((codec) => {
    const { extension, content_type, bitrates } = codecOf(codec)
    return [code(codec), code(`.${extension}`), code(content_type), bitrateRange(bitrates)]
  })
  return table(['`codec`', 'File', 'Type', 'Bitrates, kbit/s'], rows)
}

const { upload_expired, transcoder_unavailable } = TRACK_ERRORS
const errors = Object.entries(ERROR_STATUS).map(([name, status]) => [
  String(status),
  code(name),
  ERROR_MEANINGS[name as keyof typeof ERROR_STATUS],
])
const events = Object.entries(EVENTS).map(([type, { data, meaning }]) => [
  code(type),
  Object.keys(data).map(code).join(', '),
  meaning,
])
const limits = standardLimits().map(({ name, value, unit, applies_to }) => [
  code(name),
  amount(value, unit),
  applies_to,
])

/** The operations that a server key may call, by their effect. */
function effects(): string {
  const all = Object.entries<Operation>(operations).filter(([, { access }]) => access.includes('server'))
  const row = (title: string, isIn: (operation: Operation) => boolean, actions: string[] = []) => [
    title,
    [...all.filter(([, operation]) => isIn(operation)).map(([name]) => code(name)), ...actions].join(', '),
  ]
  const actionsOf = (effect: string) =>
    all.flatMap(([name, operation]) =>
      typeof operation.effect === 'object'
        ? Object.keys(operation.effect).flatMap((action) =>
            (operation.effect as Record<string, string>)[action] === effect ? `${code(action)} in ${code(name)}` : [],
          )
        : [],
    )
  const isOf = (effect: string) => (operation: Operation) => operation.effect === effect && !operation.deletes
  return table(
    ['Needs', 'Operations'],
    [
      ['`read`', 'every `GET`'],
      ...EFFECTS.slice(1).map((effect) => row(code(effect), isOf(effect), actionsOf(effect))),
      row('`write`, some requests also `delete`', ({ deletes }) => deletes !== undefined),
      row('all three', isOf('all')),
    ],
  )
}

const TABLES: Record<string, Record<string, string>> = {
  'docs/errors.md': {
    errors: table(['Status', '`code`', 'Meaning'], errors),
    'file errors': meanings({ upload_expired, ...FILE_ERRORS }),
    'source errors': meanings(SOURCE_ERRORS),
    'service errors': meanings({ ...SERVICE_ERRORS, transcoder_unavailable }),
    warnings: meanings(WARNINGS),
  },
  'docs/keys.md': { effects: effects() },
  'docs/events.md': { events: table(['`type`', '`data`', 'Meaning'], events) },
  'docs/limits.md': { limits: table(['Name', 'At most', 'Of'], limits) },
  'docs/settings.md': {
    'npm start': table(
      ['Variable', 'Default', 'Meaning'],
      Object.entries(SETTINGS).map(([name, entry]) => setting({ name, ...entry })),
    ),
    worker: table(['Variable', 'Default', 'Meaning'], [...addresses, ...vars].map(setting)),
    secrets: table(
      ['Secret', 'Meaning'],
      secrets.map((secret) => setting(secret).filter((_, at) => at !== 1)),
    ),
    transcoder: table(['Variable', 'Default', 'Meaning'], transcoderSettings()),
  },
  'docs/variants.md': { catalogue: catalogue(), codecs: codecs() },
}

function fill(page: string, text: string, name: string, content: string): string {
  const [start, end] = [`<!-- npm run docs: ${name} -->`, '<!-- end -->']
  const from = text.indexOf(start)
  const to = text.indexOf(end, from)
  if (from < 0 || to < 0) throw new Error(`${page} has no place for a table: ${start} … ${end}`)
  return `${text.slice(0, from + start.length)}\n\n${content}\n\n${text.slice(to)}`
}

const isCheck = process.argv.includes('--check')
for (const [page, tables] of Object.entries(TABLES)) {
  const before = read(page)
  const after = Object.entries(tables).reduce((text, [name, content]) => fill(page, text, name, content), before)
  if (after === before) continue
  if (!isCheck) {
    writeFileSync(join(root, page), after)
    console.log(`${page} written`)
    continue
  }
  console.error(`${page} differs from the code: run npm run docs`)
  process.exitCode = 1
}
const lines = read('README.md').trimEnd().split('\n').length
if (isCheck && lines > README_LINES) {
  console.error(`README.md has ${lines} lines; at most ${README_LINES}: move details to docs/`)
  process.exitCode = 1
}
