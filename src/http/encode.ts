import type * as z from 'zod'

type Copy = (value: never) => unknown

/**
 * Compiles a schema to a function that copies what it names and nothing else, so that private columns cannot leak. It checks no values:
 * the types do, and in tests a whole parse (CHECK_ANSWERS). Null stands for a value that is taken as it is.
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
      // Of objects that one field tells apart.
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

/** Makes answers, `ok` and the request's id first; compiled when the first is asked for. */
export function encoder(response: z.ZodObject) {
  let copy: Copy | null = null
  return (answer: object, api_request_id: string, check: boolean): Record<string, unknown> => {
    const whole = { ...answer, ok: true, api_request_id }
    copy ??= compile(response)
    const encoded = copy!(whole as never) as Record<string, unknown>
    if (check && JSON.stringify(response.parse(whole)) !== JSON.stringify(encoded)) {
      throw new Error('an answer is not what its schema says')
    }
    return encoded
  }
}
