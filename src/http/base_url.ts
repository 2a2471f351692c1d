/** Where this service is reached from outside: as configured, else where the request came to. */
export const baseUrl = (env: Env, request_url: string) =>
  (env.PUBLIC_BASE_URL || new URL(request_url).origin).replace(/\/+$/, '')
