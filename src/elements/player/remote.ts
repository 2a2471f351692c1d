/** Playback on other devices with the Remote Playback API (AirPlay, Cast), where the browser supports it. */

const remoteOf = (audio: { remote?: RemotePlayback } | undefined) => audio?.remote

/** Reports whether devices are available, now and after changes. Reports nothing if the browser has no Remote Playback. */
export const watchRemote = (audio: HTMLAudioElement, show: (hasRemote: boolean) => void) =>
  void remoteOf(audio)
    ?.watchAvailability(show)
    .catch(() => show(false))

/** Ends `watchRemote`. A watched audio element, and with it its player, is never garbage collected. */
export const unwatchRemote = (audio: HTMLAudioElement) =>
  void remoteOf(audio)
    ?.cancelWatchAvailability()
    .catch(() => {})

/** Opens the list of devices. Ignores the error when the listener closes it. */
export const pickRemote = (audio: HTMLAudioElement | undefined) =>
  void remoteOf(audio)
    ?.prompt()
    .catch(() => {})
