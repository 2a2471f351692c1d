import type { PageTexts } from './en.ts'

export const texts: PageTexts = {
  protected: 'Cette page est protégée par un mot de passe',
  password: 'Mot de passe',
  wrongPassword: 'Ce n’est pas le mot de passe.',
  open: 'Ouvrir',
  downloadAll: 'Tout télécharger (ZIP)',
  share: 'Partager',
  linkCopied: 'Lien copié',
  track: 'Piste',
  playlist: 'Playlist',
  tracks: (n) => (n < 2 ? `${n} piste` : `${n} pistes`),
  more: (n) => `et ${n} de plus`,
  needsScript: 'Le lecteur a besoin de JavaScript.',
  expired: {
    title: 'Ce lecteur a expiré',
    text: 'Les liens d’écoute prennent fin après un certain temps. Demandez-en un nouveau là où vous l’avez trouvé.',
  },
  busy: { title: 'Trop d’auditeurs à la fois', text: 'Veuillez réessayer dans une minute.' },
  unavailable: { title: 'Indisponible pour le moment', text: 'Veuillez réessayer dans un instant.' },
  missing: {
    title: 'Il n’y a rien à écouter ici',
    text: 'Le lien est peut-être incomplet, ou la musique n’existe plus.',
  },
  linkEnded: { title: 'Ce lien a pris fin', text: 'Demandez-en un nouveau là où vous l’avez trouvé.' },
  tooManyAttempts: { title: 'Trop de tentatives', text: 'Veuillez réessayer dans une minute.' },
  noDownload: 'Téléchargement impossible',
}
