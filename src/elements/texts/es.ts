import type { PlayerTexts } from './texts.ts'

export const player: PlayerTexts = {
  player: 'Reproductor de audio',
  playerOf: 'Reproductor de audio: {title}',
  play: 'Reproducir',
  pause: 'Pausa',
  previous: 'Pista anterior',
  next: 'Pista siguiente',
  back: 'Retroceder {seconds} segundos',
  forward: 'Avanzar {seconds} segundos',
  position: 'Posición',
  timeOf: '{time} de {duration}',
  mute: 'Silenciar',
  unmute: 'Activar sonido',
  volume: 'Volumen',
  speed: 'Velocidad',
  shuffle: 'Aleatorio',
  repeat: 'Repetir',
  download: 'Descargar',
  tracks: 'Pistas',
  retry: 'Reintentar',
  status: {
    processing: 'Esta pista aún se está procesando. Sonará en cuanto esté lista.',
    offline: 'Se ha perdido la conexión. La reproducción seguirá cuando vuelva.',
    expired: 'Esta sesión de escucha ha caducado. Vuelve a cargar la página para continuar.',
    empty: 'No hay nada que reproducir.',
    failed: 'Esta pista no se puede reproducir.',
  },
  errors: {
    download_failed: 'La descarga ha fallado. Inténtalo más tarde.',
  },
}
