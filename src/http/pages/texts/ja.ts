import type { PageTexts } from './en.ts'

export const texts: PageTexts = {
  protected: 'このページはパスワードで保護されています',
  password: 'パスワード',
  wrongPassword: 'パスワードが違います。',
  open: '開く',
  downloadAll: 'すべてダウンロード(ZIP)',
  share: '共有',
  linkCopied: 'リンクをコピーしました',
  track: 'トラック',
  playlist: 'プレイリスト',
  tracks: (n) => `${n}トラック`,
  more: (n) => `ほか${n}件`,
  needsScript: 'プレーヤーにはJavaScriptが必要です。',
  expired: {
    title: 'このプレーヤーは期限切れです',
    text: '再生用のリンクには期限があります。リンクを見つけた場所で、新しいリンクを求めてください。',
  },
  busy: { title: '同時に聴いている人が多すぎます', text: '1分後にもう一度お試しください。' },
  unavailable: { title: '現在ご利用いただけません', text: 'しばらくしてからもう一度お試しください。' },
  missing: { title: '再生できるものがありません', text: 'リンクが不完全か、音楽が削除された可能性があります。' },
  linkEnded: { title: 'このリンクは終了しました', text: 'リンクを見つけた場所で、新しいリンクを求めてください。' },
  tooManyAttempts: { title: '試行回数が多すぎます', text: '1分後にもう一度お試しください。' },
  noDownload: 'ダウンロードできません',
}
