import { type MediaUrl, type SignedUrls, viewSigner } from './presign.ts'

declare global {
  interface Env {
    /**
     * The address of the bucket's own domain and the key of its tokens. They are optional secrets, so that `wrangler deploy` keeps them and wrangler.toml
     * does not declare them.
     */
    MEDIA_BASE_URL?: string
    MEDIA_KEY?: string
  }
}

/** The address from which listeners get files. */
export const mediaHost = ({ MEDIA_DELIVERY, MEDIA_BASE_URL = '', S3_ENDPOINT }: Env) =>
  MEDIA_DELIVERY === 'zone' ? MEDIA_BASE_URL : S3_ENDPOINT

/**
 * Returns `mediaUrl`, whose URLs expire with the session, which ends at `ends_at` in milliseconds since 1970, and after an hour at most. MEDIA_DELIVERY
 * decides where they lead: to R2's S3 endpoint, or for `zone` to a domain of one's own (docs/decisions/0088). URLs in `cache` are not signed again.
 */
export async function mediaUrls(env: Env, now: number, ends_at: number, cache?: SignedUrls): Promise<MediaUrl> {
  if (env.MEDIA_DELIVERY === 'zone') return (await import('./zone_url.ts')).zoneUrls(env, now, ends_at, cache)
  const sign = await viewSigner(env, now, ends_at, cache)
  return (path) => sign(path)
}
