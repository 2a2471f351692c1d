/** Other devices to play on: Remote Playback, the way to AirPlay and Cast. Not every browser has it. */

const remoteOf = (audio: { remote?: RemotePlayback } | undefined) => audio?.remote

/** Says whether there are devices, now and when that changes; not where it is not known. */
export const watchRemote = (audio: HTMLAudioElement, show: (hasRemote: boolean) => void) =>
  void remoteOf(audio)
    ?.watchAvailability(show)
    .catch(() => show(false))

/** Ends this. A watched audio element is never freed, and neither is its player. */
export const unwatchRemote = (audio: HTMLAudioElement) =>
  void remoteOf(audio)
    ?.cancelWatchAvailability()
    .catch(() => {})

/** Opens the list of devices. A listener who closes it has decided, too. */
export const pickRemote = (audio: HTMLAudioElement | undefined) =>
  void remoteOf(audio)
    ?.prompt()
    .catch(() => {})
