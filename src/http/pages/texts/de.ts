import type { PageTexts } from './en.ts'

export const texts: PageTexts = {
  protected: 'Diese Seite ist durch ein Passwort geschützt',
  password: 'Passwort',
  wrongPassword: 'Das ist nicht das Passwort.',
  open: 'Öffnen',
  downloadAll: 'Alles herunterladen (ZIP)',
  share: 'Teilen',
  linkCopied: 'Link kopiert',
  track: 'Titel',
  playlist: 'Playlist',
  tracks: (n) => `${n} Titel`,
  more: (n) => `und ${n} weitere`,
  needsScript: 'Der Player braucht JavaScript.',
  expired: {
    title: 'Dieser Player ist abgelaufen',
    text: 'Links zum Anhören enden nach einer Weile. Bitten Sie dort um einen neuen, wo Sie diesen gefunden haben.',
  },
  busy: { title: 'Zu viele Zuhörer auf einmal', text: 'Bitte versuchen Sie es in einer Minute noch einmal.' },
  unavailable: { title: 'Gerade nicht verfügbar', text: 'Bitte versuchen Sie es gleich noch einmal.' },
  missing: {
    title: 'Hier gibt es nichts abzuspielen',
    text: 'Vielleicht ist der Link unvollständig, oder die Musik wurde entfernt.',
  },
  linkEnded: {
    title: 'Dieser Link ist beendet',
    text: 'Bitten Sie dort um einen neuen, wo Sie ihn gefunden haben.',
  },
  tooManyAttempts: { title: 'Zu viele Versuche', text: 'Bitte versuchen Sie es in einer Minute noch einmal.' },
  noDownload: 'Das kann nicht heruntergeladen werden',
}
