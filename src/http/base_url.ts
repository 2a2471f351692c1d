/** The service's public URL: `PUBLIC_BASE_URL`, or else the origin of the request. */
export const baseUrl = (env: Env, request_url: string) =>
  (env.PUBLIC_BASE_URL || new URL(request_url).origin).replace(/\/+$/, '')
