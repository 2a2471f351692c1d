import type { PlayerTexts } from './texts.ts'

export const player: PlayerTexts = {
  player: 'Lecteur audio',
  playerOf: 'Lecteur audio : {title}',
  play: 'Lire',
  pause: 'Pause',
  previous: 'Piste précédente',
  next: 'Piste suivante',
  back: 'Reculer de {seconds} secondes',
  forward: 'Avancer de {seconds} secondes',
  position: 'Position',
  timeOf: '{time} sur {duration}',
  mute: 'Couper le son',
  unmute: 'Rétablir le son',
  volume: 'Volume',
  speed: 'Vitesse',
  shuffle: 'Lecture aléatoire',
  repeat: 'Répéter',
  download: 'Télécharger',
  tracks: 'Pistes',
  retry: 'Réessayer',
  status: {
    processing: 'Cette piste est en cours de traitement. Elle sera lue dès qu’elle sera prête.',
    offline: 'La connexion est interrompue. La lecture reprendra à son retour.',
    expired: 'Cette session d’écoute a expiré. Rechargez la page pour continuer.',
    empty: 'Il n’y a rien à écouter ici.',
    failed: 'Cette piste ne peut pas être lue.',
  },
  errors: {
    download_failed: 'Le téléchargement a échoué. Réessayez plus tard.',
  },
}
