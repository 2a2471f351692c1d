/** Names in the browser's storage that the studio and the pages below `/docs` share. */

/** In the session storage: the API key of this tab. */
export const API_KEY = 'tonearm.key'
/** In the local storage: the preferences of this browser. */
export const PREFERENCES = 'tonearm.preferences'
