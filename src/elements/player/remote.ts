/** Playback on other devices (AirPlay, Cast) with the Remote Playback API, if the browser supports it. */

const remoteOf = (audio: { remote?: RemotePlayback } | undefined) => audio?.remote

/** Calls `show` with whether devices are available, now and after every change. Does nothing if the browser does not support the API. */
export const watchRemote = (audio: HTMLAudioElement, show: (hasRemote: boolean) => void) =>
  void remoteOf(audio)
    ?.watchAvailability(show)
    .catch(() => show(false))

/** Ends `watchRemote`. Otherwise, the audio element and its player would never be garbage collected. */
export const unwatchRemote = (audio: HTMLAudioElement) =>
  void remoteOf(audio)
    ?.cancelWatchAvailability()
    .catch(() => {})

/** Opens the list of devices. Ignores the error that occurs when the listener closes the list. */
export const pickRemote = (audio: HTMLAudioElement | undefined) =>
  void remoteOf(audio)
    ?.prompt()
    .catch(() => {})
