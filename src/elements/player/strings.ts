/** What the player says. `{time}` and `{duration}` are filled in. */
export interface Strings {
  player: string
  play: string
  pause: string
  previous: string
  next: string
  position: string
  time_of: string
  mute: string
  unmute: string
  volume: string
  speed: string
  shuffle: string
  repeat: string
  download: string
  tracks: string
  retry: string
  processing: string
  offline: string
  expired: string
  empty: string
  failed: string
  download_failed: string
}

const keys = [
  'player play pause previous next position time_of mute unmute volume speed shuffle repeat download',
  'tracks retry processing offline expired empty failed download_failed',
]
  .join(' ')
  .split(' ') as (keyof Strings)[]

/** One text per key, in the order of `keys`, with `|` between. */
const TEXTS: Record<string, string> = {
  en: `Audio player|Play|Pause|Previous track|Next track|Position|{time} of {duration}|Mute|Unmute|Volume|Speed|Shuffle|Repeat|Download|Tracks|Try again|This track is still being processed. It will play as soon as it is ready.|The connection is lost. Playback goes on when it is back.|This session has expired.|There is nothing to play here.|This track cannot be played.|The download failed. Try again later.`,
  de: `Audioplayer|Wiedergabe|Pause|Vorheriger Titel|Nächster Titel|Position|{time} von {duration}|Ton aus|Ton an|Lautstärke|Tempo|Zufällige Reihenfolge|Wiederholen|Herunterladen|Titel|Noch einmal versuchen|Dieser Titel wird noch verarbeitet. Er spielt, sobald er fertig ist.|Die Verbindung ist unterbrochen. Die Wiedergabe geht weiter, sobald sie zurück ist.|Diese Sitzung ist abgelaufen.|Hier gibt es nichts abzuspielen.|Dieser Titel kann nicht abgespielt werden.|Das Herunterladen ist fehlgeschlagen. Bitte später noch einmal versuchen.`,
  fr: `Lecteur audio|Lire|Pause|Piste précédente|Piste suivante|Position|{time} sur {duration}|Couper le son|Rétablir le son|Volume|Vitesse|Lecture aléatoire|Répéter|Télécharger|Pistes|Réessayer|Cette piste est en cours de traitement. Elle sera lue dès qu’elle sera prête.|La connexion est interrompue. La lecture reprendra à son retour.|Cette session a expiré.|Il n’y a rien à écouter ici.|Cette piste ne peut pas être lue.|Le téléchargement a échoué. Réessayez plus tard.`,
  es: `Reproductor de audio|Reproducir|Pausa|Pista anterior|Pista siguiente|Posición|{time} de {duration}|Silenciar|Activar sonido|Volumen|Velocidad|Aleatorio|Repetir|Descargar|Pistas|Reintentar|Esta pista aún se está procesando. Sonará en cuanto esté lista.|Se ha perdido la conexión. La reproducción seguirá cuando vuelva.|Esta sesión ha caducado.|No hay nada que reproducir.|Esta pista no se puede reproducir.|La descarga ha fallado. Inténtalo más tarde.`,
  ja: `オーディオプレーヤー|再生|一時停止|前のトラック|次のトラック|再生位置|{time} / {duration}|ミュート|ミュート解除|音量|再生速度|シャッフル|リピート|ダウンロード|トラック|再試行|このトラックは処理中です。準備ができ次第再生します。|接続が切れました。復旧すると再生を続けます。|このセッションは期限切れです。|再生できるものがありません。|このトラックは再生できません。|ダウンロードできませんでした。後でもう一度お試しください。`,
  ar: `مشغل الصوت|تشغيل|إيقاف مؤقت|المقطع السابق|المقطع التالي|الموضع|{time} من {duration}|كتم الصوت|إلغاء الكتم|مستوى الصوت|السرعة|ترتيب عشوائي|تكرار|تنزيل|المقاطع|إعادة المحاولة|لا تزال معالجة هذا المقطع جارية. سيبدأ تشغيله فور جاهزيته.|انقطع الاتصال. سيستمر التشغيل عند عودته.|انتهت صلاحية هذه الجلسة.|لا يوجد ما يمكن تشغيله هنا.|لا يمكن تشغيل هذا المقطع.|فشل التنزيل. حاول مرة أخرى لاحقًا.`,
}

/** The texts of a language, English for one that is not here; what the page gives goes first. */
export function stringsFor(locale: string, overrides: Partial<Strings> = {}): Strings {
  const texts = (TEXTS[locale.split('-')[0]!] ?? TEXTS.en!).split('|')
  return { ...(Object.fromEntries(keys.map((key, i) => [key, texts[i]])) as unknown as Strings), ...overrides }
}
