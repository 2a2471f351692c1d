/**
 * A helper Worker in the same process as the counted Worker. It delivers messages and cron ticks to that Worker, and puts objects into its
 * bucket.
 */

type Bindings = {
  APP: {
    queue: (queue: string, messages: object[]) => Promise<unknown>
    scheduled: (event: { cron: string }) => Promise<unknown>
  }
  MEDIA: { put: (key: string, value: string) => Promise<unknown> }
}

export default {
  async fetch(request: Request, { APP, MEDIA }: Bindings): Promise<Response> {
    const { pathname } = new URL(request.url)
    const [, kind = '', ...nameParts] = decodeURIComponent(pathname).split('/')
    const name = nameParts.join('/')
    if (kind === 'object') {
      await MEDIA.put(name, (await request.json()) as string)
      return Response.json({})
    }
    if (kind === 'cron') return Response.json((await APP.scheduled({ cron: '* * * * *' })) ?? null)
    const message = { id: crypto.randomUUID(), timestamp: new Date(), attempts: 1, body: await request.json() }
    return Response.json(await APP.queue(name, [message]))
  },
}
