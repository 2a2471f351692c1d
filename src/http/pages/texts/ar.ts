import type { PageTexts } from './en.ts'

/** The nouns of each plural category. For one and two, the noun contains the number. */
const TRACKS = { zero: '{} مقطع', one: 'مقطع واحد', two: 'مقطعان', few: '{} مقاطع', many: '{} مقطعًا', other: '{} مقطع' }

export const texts: PageTexts = {
  protected: 'هذه الصفحة محمية بكلمة مرور',
  password: 'كلمة المرور',
  wrongPassword: 'كلمة المرور غير صحيحة.',
  open: 'فتح',
  downloadAll: 'تنزيل الكل (ZIP)',
  share: 'مشاركة',
  linkCopied: 'نُسخ الرابط',
  track: 'مقطع',
  playlist: 'قائمة تشغيل',
  tracks: (n) => TRACKS[new Intl.PluralRules('ar').select(n)].replace('{}', `${n}`),
  more: (n) => `و${n} غيرها`,
  needsScript: 'يحتاج المشغّل إلى JavaScript.',
  expired: {
    title: 'انتهت صلاحية هذا المشغّل',
    text: 'تنتهي روابط الاستماع بعد مدة. اطلب رابطًا جديدًا من حيث وجدته.',
  },
  busy: { title: 'عدد المستمعين كبير الآن', text: 'يُرجى المحاولة مجددًا بعد دقيقة.' },
  unavailable: { title: 'غير متاح حاليًا', text: 'يُرجى المحاولة مجددًا بعد لحظات.' },
  missing: { title: 'لا يوجد ما يمكن تشغيله هنا', text: 'قد يكون الرابط غير مكتمل، أو أن الموسيقى لم تعد موجودة.' },
  linkEnded: { title: 'انتهى هذا الرابط', text: 'اطلب رابطًا جديدًا من حيث وجدته.' },
  tooManyAttempts: { title: 'محاولات كثيرة جدًا', text: 'يُرجى المحاولة مجددًا بعد دقيقة.' },
  noDownload: 'لا يمكن تنزيل هذا',
}
