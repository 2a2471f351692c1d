import type { PlayerTexts } from './texts.ts'

export const player: PlayerTexts = {
  player: 'オーディオプレーヤー',
  playerOf: 'オーディオプレーヤー：{title}',
  play: '再生',
  pause: '一時停止',
  previous: '前のトラック',
  next: '次のトラック',
  back: '{seconds}秒戻る',
  forward: '{seconds}秒進む',
  position: '再生位置',
  timeOf: '{time} / {duration}',
  mute: 'ミュート',
  unmute: 'ミュート解除',
  volume: '音量',
  speed: '再生速度',
  shuffle: 'シャッフル',
  repeat: 'リピート',
  download: 'ダウンロード',
  tracks: 'トラック',
  retry: '再試行',
  status: {
    processing: 'このトラックは処理中です。準備ができ次第再生します。',
    offline: '接続が切れました。復旧すると再生を続けます。',
    expired: 'この再生セッションは期限切れです。続けるにはページを再読み込みしてください。',
    empty: '再生できるものがありません。',
    failed: 'このトラックは再生できません。',
  },
  errors: {
    download_failed: 'ダウンロードできませんでした。後でもう一度お試しください。',
  },
}
