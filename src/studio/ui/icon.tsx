const PATHS = {
  play: 'M8 5v14l11-7z',
  pause: 'M6 5h4v14H6zM14 5h4v14h-4z',
  plus: 'M11 5h2v6h6v2h-6v6h-2v-6H5v-2h6z',
  more: 'M12 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4zm0 6a2 2 0 1 0 0-4 2 2 0 0 0 0 4zm0 6a2 2 0 1 0 0-4 2 2 0 0 0 0 4z',
  grip: 'M9 8a1.6 1.6 0 1 0 0-3.2A1.6 1.6 0 0 0 9 8zm6 0a1.6 1.6 0 1 0 0-3.2A1.6 1.6 0 0 0 15 8zM9 13.6a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2zm6 0a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2zM9 19.2A1.6 1.6 0 1 0 9 16a1.6 1.6 0 0 0 0 3.2zm6 0a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2z',
  close: 'M6.4 5 5 6.4l5.6 5.6L5 17.6 6.4 19l5.6-5.6 5.6 5.6 1.4-1.4-5.6-5.6L19 6.4 17.6 5 12 10.6z',
  back: 'm14.7 6-1.4-1.4L5.9 12l7.4 7.4 1.4-1.4-6-6z',
  upload: 'M11 16V8.8L7.9 11.9 6.5 10.5 12 5l5.5 5.5-1.4 1.4L13 8.8V16zM5 18h14v2H5z',
  check: 'm9.5 17.6-5.1-5.1 1.4-1.4 3.7 3.7 8.7-8.7 1.4 1.4z',
  image: 'M5 4h14a1 1 0 0 1 1 1v14a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V5a1 1 0 0 1 1-1zm1 13h12l-4-5-3 3.6L9 13z',
  warning: 'M12 3 1.5 21h21zm-1 7h2v5h-2zm0 6.5h2v2h-2z',
  external: 'M5 5h6v2H7v10h10v-4h2v6H5zm9 0h5v5h-2V8.4l-6.3 6.3-1.4-1.4L15.6 7H14z',
} as const
export type IconName = keyof typeof PATHS

/** An icon next to a text. Screen readers skip it. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
)
