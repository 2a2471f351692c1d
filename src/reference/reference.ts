import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'

/** The API reference at `/docs`: Swagger UI over the document that the operation table gives. Nothing comes from another host. */
SwaggerUI({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  validatorUrl: null,
})
