import type { PlayerTexts } from './texts.ts'

export const player: PlayerTexts = {
  player: 'مشغل الصوت',
  playerOf: 'مشغل الصوت: {title}',
  play: 'تشغيل',
  pause: 'إيقاف مؤقت',
  previous: 'المقطع السابق',
  next: 'المقطع التالي',
  back: 'رجوع {seconds} ثانية',
  forward: 'تقديم {seconds} ثانية',
  position: 'الموضع',
  timeOf: '{time} من {duration}',
  mute: 'كتم الصوت',
  unmute: 'إلغاء الكتم',
  volume: 'مستوى الصوت',
  speed: 'السرعة',
  shuffle: 'ترتيب عشوائي',
  repeat: 'تكرار',
  download: 'تنزيل',
  tracks: 'المقاطع',
  retry: 'إعادة المحاولة',
  status: {
    processing: 'لا تزال معالجة هذا المقطع جارية. سيبدأ تشغيله فور جاهزيته.',
    offline: 'انقطع الاتصال. سيستمر التشغيل عند عودته.',
    expired: 'انتهت صلاحية جلسة الاستماع هذه. أعد تحميل الصفحة للمتابعة.',
    empty: 'لا يوجد ما يمكن تشغيله هنا.',
    failed: 'لا يمكن تشغيل هذا المقطع.',
  },
  errors: {
    download_failed: 'فشل التنزيل. حاول مرة أخرى لاحقًا.',
  },
}
