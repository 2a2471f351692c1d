import type { PlayerTexts } from './texts.ts'

export const player: PlayerTexts = {
  player: 'Audio player',
  playerOf: 'Audio player: {title}',
  play: 'Play',
  pause: 'Pause',
  previous: 'Previous track',
  next: 'Next track',
  back: 'Back {seconds} seconds',
  forward: 'Forward {seconds} seconds',
  position: 'Position',
  timeOf: '{time} of {duration}',
  mute: 'Mute',
  unmute: 'Unmute',
  volume: 'Volume',
  speed: 'Speed',
  shuffle: 'Shuffle',
  repeat: 'Repeat',
  download: 'Download',
  tracks: 'Tracks',
  retry: 'Try again',
  status: {
    processing: 'This track is still being processed. It will play as soon as it is ready.',
    offline: 'The connection is lost. Playback goes on when it is back.',
    expired: 'This listening session has expired. Reload the page to go on.',
    empty: 'There is nothing to play here.',
    failed: 'This track cannot be played.',
  },
  errors: {
    download_failed: 'The download failed. Try again later.',
  },
}
