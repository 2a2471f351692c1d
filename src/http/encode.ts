import type * as z from 'zod'

type Copy = (value: never) => unknown

/**
 * Compiles a schema into a function that copies only the fields of the schema, so that private columns cannot leak. The function does not check
 * values: their types are checked by the compiler, and tests parse all responses (`CHECK_ANSWERS`). Returns null if values of the schema need no
 * copy.
 */
function compile(schema: z.core.$ZodType): Copy | null {
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'object': {
      const fields = Object.entries(def.shape).map(([name, field]) => [name, compile(field)] as const)
      return (value: Record<string, never>) => {
        const copy: Record<string, unknown> = {}
        for (const [name, inner] of fields) {
          const field = value[name]
          if (field !== undefined) copy[name] = inner ? inner(field) : field
        }
        return copy
      }
    }
    case 'array': {
      const inner = compile(def.element)
      return inner && ((values: never[]) => values.map((value) => inner(value)))
    }
    case 'nullable':
    case 'optional': {
      const inner = compile(def.innerType)
      return inner && ((value: never) => (value === null || value === undefined ? value : inner(value)))
    }
    case 'union': {
      // All unions in the schemas are unions of objects with a discriminator.
      const { discriminator, options } = def as z.core.$ZodDiscriminatedUnionDef
      const copies = new Map(
        options.flatMap((option) => {
          const copy = compile(option)
          return [...(option._zod.propValues?.[discriminator] ?? [])].map((value) => [value, copy] as const)
        }),
      )
      return (value: Record<string, never>) => copies.get(value[discriminator])!(value as never)
    }
    case 'string':
    case 'number':
    case 'boolean':
    case 'literal':
    case 'enum':
    case 'record':
    case 'unknown':
      return null
    default:
      throw new Error(`encode.ts does not know how to copy the type ${def.type}`)
  }
}

/** Returns a function that encodes responses. `ok` and the id of the request come first. The schema is compiled on first use. */
export function encoder(response: z.ZodObject) {
  let copy: Copy | null = null
  return (answer: object, api_request_id: string, check: boolean): Record<string, unknown> => {
    const body = { ...answer, ok: true, api_request_id }
    copy ??= compile(response)
    const encoded = copy!(body as never) as Record<string, unknown>
    if (check && JSON.stringify(response.parse(body)) !== JSON.stringify(encoded)) {
      throw new Error('an answer is not what its schema says')
    }
    return encoded
  }
}
