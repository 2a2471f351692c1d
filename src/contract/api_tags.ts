/** The groups of operations, with their descriptions in the OpenAPI document. */
export const API_TAGS = {
  Organizations: 'Tenants of the service, with the defaults of their players and what they store.',
  Collections: 'Ordered groups of tracks, such as albums, shows or folders.',
  Tracks: 'Audio files: creating, uploading, editing and processing them.',
  'Cover images': 'Pictures of collections and tracks, as URLs to show and to upload to.',
  'Upload sessions': 'Permissions for browsers and apps to add tracks to one collection.',
  'Play sessions': 'Permissions to play one collection, track or playlist, and everything that a player needs.',
  Variants: 'The files that are made of every track: codecs, bitrates and previews.',
  Playlists: 'Lists of tracks from any collections, in their own order.',
  'API keys': 'Credentials for servers, and restricted ones for browsers and apps.',
  Listening: 'Reports of players about the seconds that were heard.',
  'Multipart uploads': 'Uploading a large file in parts, which can be resumed for 24 hours.',
  Shares: 'Lasting links to pages that play a collection, a track or a playlist.',
  Trash: 'Deleted items, which can be restored for seven days.',
  Webhooks: 'URLs of yours to which events are sent, and the deliveries to them.',
  Limits: 'What this service allows at most.',
  Statistics: 'What was heard, of what, when and where, and how far each listener got.',
  Events: 'Everything that has happened in the last 30 days, for polling and for webhooks.',
  System: 'The state of the whole service, for its operator.',
} as const
export type ApiTag = keyof typeof API_TAGS
