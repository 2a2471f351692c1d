import { Hono } from 'hono'

/** The baseline for all comparisons: a Hono app with a single route. */
const app = new Hono()
app.get('/', (c) => c.json({ ok: true }))

export default app
