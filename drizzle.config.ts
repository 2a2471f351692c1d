import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'sqlite',
  schema: ['library', 'shares', 'trash', 'work'].map((name) => `./src/adapters/db/schema/${name}.ts`),
  out: './drizzle',
})
