import { Hono } from 'hono'

/** What everything else is compared with. */
const app = new Hono()
app.get('/', (c) => c.json({ ok: true }))

export default app
