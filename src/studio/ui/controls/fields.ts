/** Elements in which the keys of the page have another meaning. */
export const FIELDS =
  'input:not([type=checkbox], [type=radio]), textarea, select, [role=textbox], [role=slider], tonearm-player, tonearm-waveform'
