import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'

/** The API reference at `/docs`: Swagger UI with the OpenAPI document of the operation table. Loads nothing from other hosts. */
SwaggerUI({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  validatorUrl: null,
})
