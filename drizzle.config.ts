import { defineConfig } from 'drizzle-kit'

export default defineConfig({ dialect: 'sqlite', schema: './src/adapters/db/schema/*.ts', out: './drizzle' })
