console.log(process.env.WRANGLER_COMMAND, process.version, process.cwd())
