const PATHS = {
  play: 'M8 5v14l11-7z',
  pause: 'M6 5h4v14H6zM14 5h4v14h-4z',
  plus: 'M11 5h2v6h6v2h-6v6h-2v-6H5v-2h6z',
  more: 'M12 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4zm0 6a2 2 0 1 0 0-4 2 2 0 0 0 0 4zm0 6a2 2 0 1 0 0-4 2 2 0 0 0 0 4z',
  grip: 'M9 8a1.6 1.6 0 1 0 0-3.2A1.6 1.6 0 0 0 9 8zm6 0a1.6 1.6 0 1 0 0-3.2A1.6 1.6 0 0 0 15 8zM9 13.6a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2zm6 0a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2zM9 19.2A1.6 1.6 0 1 0 9 16a1.6 1.6 0 0 0 0 3.2zm6 0a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2z',
  close: 'M6.4 5 5 6.4l5.6 5.6L5 17.6 6.4 19l5.6-5.6 5.6 5.6 1.4-1.4-5.6-5.6L19 6.4 17.6 5 12 10.6z',
  back: 'm14.7 6-1.4-1.4L5.9 12l7.4 7.4 1.4-1.4-6-6z',
  down: 'm6 8 6 6 6-6 1.4 1.4-7.4 7.4-7.4-7.4z',
  upload: 'M11 16V8.8L7.9 11.9 6.5 10.5 12 5l5.5 5.5-1.4 1.4L13 8.8V16zM5 18h14v2H5z',
  download: 'M11 4h2v7.2l3.1-3.1 1.4 1.4L12 15 6.5 9.5l1.4-1.4 3.1 3.1zM5 18h14v2H5z',
  edit: 'M4 16.6V20h3.4L17.8 9.6l-3.4-3.4zM20.4 7 17 3.6l-1.5 1.5 3.4 3.4z',
  share: 'M12 3l5 5-1.4 1.4L13 6.8V15h-2V6.8L8.4 9.4 7 8zM5 12h2v7h10v-7h2v9H5z',
  check: 'm9.5 17.6-5.1-5.1 1.4-1.4 3.7 3.7 8.7-8.7 1.4 1.4z',
  image: 'M5 4h14a1 1 0 0 1 1 1v14a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V5a1 1 0 0 1 1-1zm1 13h12l-4-5-3 3.6L9 13z',
  warning: 'M12 3 1.5 21h21zm-1 7h2v5h-2zm0 6.5h2v2h-2z',
  sort: 'M7 4h2v12h3l-4 4-4-4h3zm8 0 4 4h-3v12h-2V8h-3z',
  columns: 'M4 5h4v14H4zm6 0h4v14h-4zm6 0h4v14h-4z',
  external: 'M5 5h6v2H7v10h10v-4h2v6H5zm9 0h5v5h-2V8.4l-6.3 6.3-1.4-1.4L15.6 7H14z',
  search: 'M10 3a7 7 0 0 1 5.6 11.2l5.1 5.1-1.4 1.4-5.1-5.1A7 7 0 1 1 10 3zm0 2a5 5 0 1 0 0 10 5 5 0 0 0 0-10z',
  overview: 'M4 4h7v9H4zm9 0h7v5h-7zm0 7h7v9h-7zm-9 4h7v5H4z',
  library: 'M4 4h2v16H4zm5 0h2v16H9zm5.2.6 1.9-.5 4.1 15.5-1.9.5z',
  playlist: 'M3 5h12v2H3zm0 5h12v2H3zm0 5h8v2H3zm14-1V6h4v2h-2v9a3 3 0 1 1-2-2.8z',
  listening: 'M12 3a9 9 0 0 1 9 9v6a3 3 0 0 1-3 3h-3v-8h4v-1a7 7 0 0 0-14 0v1h4v8H6a3 3 0 0 1-3-3v-6a9 9 0 0 1 9-9z',
  key: 'M14.5 3a6.5 6.5 0 1 1-2.3 12.6L10.8 17H9v2H7v2H3v-3.6l5.4-5.4A6.5 6.5 0 0 1 14.5 3zm2 3.5a2 2 0 1 0 0 4 2 2 0 0 0 0-4z',
  webhook:
    'M12 2a5 5 0 0 1 3.2 8.8l2.6 4.5a4.5 4.5 0 1 1-1.7 1l-3.6-6.2.9-.5A3 3 0 1 0 9.3 6l-1.8 1A5 5 0 0 1 12 2zM6 13.1a3 3 0 1 0 3.9 3.9v-1h6v2h-4.3A5 5 0 1 1 6 11z',
  variants: 'M4 10h2v4H4zm4-4h2v12H8zm4-3h2v18h-2zm4 5h2v8h-2zm4 3h2v2h-2z',
  usage: 'M4 20V10h4v10zm6 0V4h4v16zm6 0v-7h4v7z',
  activity: 'M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18zm0 2a7 7 0 1 0 0 14 7 7 0 0 0 0-14zm-1 2h2v4.6l3.2 1.9-1 1.7-4.2-2.5z',
  trash: 'M9 3h6l1 2h4v2H4V5h4zM6 9h12l-1 12H7z',
  settings:
    'M3 6h8.2a3 3 0 0 1 5.6 0H21v2h-4.2a3 3 0 0 1-5.6 0H3zm0 10h2.2a3 3 0 0 1 5.6 0H21v2H10.8a3 3 0 0 1-5.6 0H3z',
  'sign-out': 'M5 4h8v2H7v12h6v2H5zm10.6 3.6L20 12l-4.4 4.4-1.4-1.4 2-2H10v-2h6.2l-2-2z',
} as const
export type IconName = keyof typeof PATHS

/** An icon next to a text. Screen readers skip it. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
)
