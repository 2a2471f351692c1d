/** A Worker without code, with the classes that wrangler.toml names. */

export const TranscoderContainer = Object
export const Listening = Object
export default { fetch: () => new Response() }
