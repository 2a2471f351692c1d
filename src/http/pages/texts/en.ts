/** The texts of the pages of embeds and shares. */
export const texts = {
  protected: 'This is protected by a password',
  password: 'Password',
  wrongPassword: 'This is not the password.',
  open: 'Open',
  downloadAll: 'Download all (ZIP)',
  share: 'Share',
  linkCopied: 'Link copied',
  track: 'Track',
  playlist: 'Playlist',
  tracks: (n: number) => (n === 1 ? '1 track' : `${n} tracks`),
  more: (n: number) => `and ${n} more`,
  needsScript: 'The player needs JavaScript.',
  expired: {
    title: 'This player has expired',
    text: 'Links to listen end after a while. Ask for a new one where you found it.',
  },
  busy: { title: 'Too many listeners at once', text: 'Please try again in a minute.' },
  unavailable: { title: 'This is not available right now', text: 'Please try again in a moment.' },
  missing: { title: 'There is nothing to play here', text: 'The link may be incomplete, or the music is gone.' },
  linkEnded: { title: 'This link has ended', text: 'Ask for a new one where you found it.' },
  tooManyAttempts: { title: 'Too many attempts', text: 'Please try again in a minute.' },
  noDownload: 'This cannot be downloaded',
}

export type PageTexts = typeof texts
