import type { PageTexts } from './en.ts'

export const texts: PageTexts = {
  protected: 'Esta página está protegida con una contraseña',
  password: 'Contraseña',
  wrongPassword: 'La contraseña no es correcta.',
  open: 'Abrir',
  downloadAll: 'Descargar todo (ZIP)',
  share: 'Compartir',
  linkCopied: 'Enlace copiado',
  track: 'Pista',
  playlist: 'Lista de reproducción',
  tracks: (n) => (n === 1 ? '1 pista' : `${n} pistas`),
  more: (n) => `y ${n} más`,
  needsScript: 'El reproductor necesita JavaScript.',
  expired: {
    title: 'Este reproductor ha caducado',
    text: 'Los enlaces para escuchar terminan al cabo de un tiempo. Pida uno nuevo donde lo encontró.',
  },
  busy: { title: 'Demasiados oyentes a la vez', text: 'Inténtelo de nuevo dentro de un minuto.' },
  unavailable: { title: 'No está disponible en este momento', text: 'Inténtelo de nuevo dentro de un momento.' },
  missing: {
    title: 'Aquí no hay nada que reproducir',
    text: 'Puede que el enlace esté incompleto o que la música ya no exista.',
  },
  linkEnded: { title: 'Este enlace ha terminado', text: 'Pida uno nuevo donde lo encontró.' },
  tooManyAttempts: { title: 'Demasiados intentos', text: 'Inténtelo de nuevo dentro de un minuto.' },
  noDownload: 'No se puede descargar',
}
