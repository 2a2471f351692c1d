import type { PlayerTexts } from './texts.ts'

export const player: PlayerTexts = {
  player: 'Audioplayer',
  playerOf: 'Audioplayer: {title}',
  play: 'Wiedergabe',
  pause: 'Pause',
  previous: 'Vorheriger Titel',
  next: 'Nächster Titel',
  back: '{seconds} Sekunden zurück',
  forward: '{seconds} Sekunden vor',
  position: 'Position',
  timeOf: '{time} von {duration}',
  mute: 'Ton aus',
  unmute: 'Ton an',
  volume: 'Lautstärke',
  speed: 'Tempo',
  shuffle: 'Zufällige Reihenfolge',
  repeat: 'Wiederholen',
  download: 'Herunterladen',
  tracks: 'Titel',
  retry: 'Noch einmal versuchen',
  status: {
    processing: 'Dieser Titel wird noch verarbeitet. Er spielt, sobald er fertig ist.',
    offline: 'Die Verbindung ist unterbrochen. Die Wiedergabe geht weiter, sobald sie zurück ist.',
    expired: 'Diese Hörsitzung ist abgelaufen. Lade die Seite neu, um weiterzuhören.',
    empty: 'Hier gibt es nichts abzuspielen.',
    failed: 'Dieser Titel kann nicht abgespielt werden.',
  },
  errors: {
    download_failed: 'Das Herunterladen ist fehlgeschlagen. Bitte später noch einmal versuchen.',
  },
}
