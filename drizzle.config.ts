import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'sqlite',
  schema: [
    './src/adapters/schema.ts',
    './src/adapters/share_schema.ts',
    './src/adapters/trash_schema.ts',
    './src/adapters/work_schema.ts',
  ],
  out: './drizzle',
})
