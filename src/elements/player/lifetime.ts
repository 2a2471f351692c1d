interface Signed {
  variants: readonly { url: string }[]
  play_session: { expires_at: string }
}

/** Part of a signed URL's life that is surely left: it may have been signed before, for others (docs/decisions/0028). */
const LEFT = 0.6

/**
 * Milliseconds for which the URLs of a play view that has just arrived can be used. A signed URL says so itself
 * (`X-Amz-Expires`, AWS Signature Version 4), which needs no right clock on this machine.
 */
export function lifetime({ variants, play_session }: Signed, now = Date.now()): number {
  const seconds = variants.map(({ url }) => Number(new URL(url).searchParams.get('X-Amz-Expires'))).filter((s) => s > 0)
  return seconds.length > 0
    ? Math.min(...seconds) * LEFT * 1000
    : Math.max(0, Date.parse(play_session.expires_at) - now)
}

/** Milliseconds before the end at which URLs are replaced: a fifth of their life, at most a minute. */
export const refreshMargin = (life: number) => Math.min(60_000, life / 5)
