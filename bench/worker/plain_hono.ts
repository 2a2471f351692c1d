import { Hono } from 'hono'

/** The baseline of all comparisons. */
const app = new Hono()
app.get('/', (c) => c.json({ ok: true }))

export default app
