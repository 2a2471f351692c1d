/** Returns the public URL of the service: `PUBLIC_BASE_URL`, or the origin of the request if that is empty. */
export const baseUrl = (env: Env, request_url: string) =>
  (env.PUBLIC_BASE_URL || new URL(request_url).origin).replace(/\/+$/, '')
