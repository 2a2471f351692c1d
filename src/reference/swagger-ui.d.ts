declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  /** The options that we set. The package ships without types. */
  interface Options {
    url: string
    dom_id: string
    deepLinking: boolean
    docExpansion: 'list' | 'full' | 'none'
    defaultModelsExpandDepth: number
    displayRequestDuration: boolean
    validatorUrl: string | null
  }
  export default function SwaggerUI(options: Options): void
}
