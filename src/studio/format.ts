import type { Failure } from '../client/index.ts'

/** `75.4` → `1:15`, `3700` → `1:01:40`. */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60]
  const shown = parts[0] === 0 ? parts.slice(1) : parts
  return shown.map((part, i) => (i === 0 ? String(part) : String(part).padStart(2, '0'))).join(':')
}

export const percent = (fraction: number) => `${Math.round(fraction * 100)} %`

/** A fault as a sentence, with the fields that are wrong. */
export function explain(failure: Failure): string {
  const fields = (failure.errors ?? []).map(({ path, message }) => `${path} ${message}`).join('; ')
  return fields && !failure.message.includes(fields) ? `${failure.message}: ${fields}` : failure.message
}

interface Reason {
  message?: string
}

/** Why a track failed: `info.error.message`, written for people. */
export function failureOf(info: Record<string, unknown>): string {
  return (info.error as Reason | undefined)?.message ?? 'This file could not be processed'
}

/** How far the transcoder is, 0–1, while a track is being processed. */
export const progressOf = (info: Record<string, unknown>) => (typeof info.progress === 'number' ? info.progress : 0)
