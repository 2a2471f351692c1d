const QUERY_METHODS = ['run', 'all', 'raw', 'first']

/** Returns a D1 binding that passes the execution of every statement and batch to `execute`, with the SQL of its statements. */
export function intercept(
  d1: D1Database,
  execute: <T>(run: () => Promise<T>, queries: readonly string[]) => Promise<T>,
): D1Database {
  const queryOf = new WeakMap<D1PreparedStatement, string>()
  const statement = (real: D1PreparedStatement, query: string): D1PreparedStatement => {
    const proxy = new Proxy(real, {
      get(_, name: keyof D1PreparedStatement) {
        if (name === 'bind') return (...values: unknown[]) => statement(real.bind(...values), query)
        const value = Reflect.get(real, name) as unknown
        if (typeof value !== 'function') return value
        return QUERY_METHODS.includes(name)
          ? (...values: unknown[]) => execute(() => Reflect.apply(value, real, values) as Promise<unknown>, [query])
          : value.bind(real)
      },
    })
    queryOf.set(proxy, query)
    return proxy
  }
  return new Proxy(d1, {
    get(_, name: keyof D1Database) {
      if (name === 'prepare') return (query: string) => statement(d1.prepare(query), query)
      if (name === 'batch')
        return (statements: D1PreparedStatement[]) =>
          execute(
            () => d1.batch(statements),
            statements.map((one) => queryOf.get(one) ?? ''),
          )
      return d1[name].bind(d1)
    },
  })
}
