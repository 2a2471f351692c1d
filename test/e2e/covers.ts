import sharp from 'sharp'

/** Five covers, drawn for the documentation's pictures. */

const art: Record<string, string> = {
  'Harbour at Dusk': `<defs><linearGradient id="g" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#1d2b64"/>
    <stop offset=".55" stop-color="#b4446c"/><stop offset="1" stop-color="#f8a15a"/></linearGradient></defs>
    <rect width="600" height="600" fill="url(#g)"/><circle cx="300" cy="392" r="74" fill="#ffe0a8"/>
    <path d="M0 420h600v180H0z" fill="#1a2146"/><path d="M90 452h420M140 490h320M190 528h220" stroke="#f8a15a" stroke-width="7" opacity=".7"/>`,
  'Paper Gardens': `<rect width="600" height="600" fill="#f2ead7"/><circle cx="210" cy="250" r="150" fill="#3f7d4f"/>
    <circle cx="390" cy="330" r="150" fill="#e2a72e" opacity=".9"/><path d="M300 600V240" stroke="#22442d" stroke-width="16"/>
    <circle cx="300" cy="200" r="54" fill="#c8452c"/>`,
  'Night Trains': `<rect width="600" height="600" fill="#0d0f14"/>${Array.from(
    { length: 9 },
    (_, i) =>
      `<path d="M${-60 + i * 40} 600 L${330 + i * 34} 0" stroke="#${i % 3 ? '2f6fed' : '9fd0ff'}" stroke-width="${3 + i * 2}"/>`,
  ).join('')}`,
  'Monochrome Sea': `<rect width="600" height="600" fill="#d8d8d8"/>${Array.from(
    { length: 12 },
    (_, i) =>
      `<path d="M0 ${70 + i * 44}q75 -46 150 0t150 0t150 0t150 0" fill="none" stroke="#3c3c3c" stroke-width="${2 + i}"/>`,
  ).join('')}`,
  'Citrus Machine': `<rect width="600" height="600" fill="#ffe14a"/><circle cx="300" cy="300" r="200" fill="#ff7a00"/>
    <circle cx="300" cy="300" r="176" fill="#fff3b0"/>${Array.from(
      { length: 8 },
      (_, i) => `<path d="M300 300 L265 142 Q300 120 335 142 Z" fill="#ff9d1e" transform="rotate(${i * 45} 300 300)"/>`,
    ).join('')}`,
}

/** Returns pairs of a title and its cover as a PNG. */
export const drawCovers = () =>
  Promise.all(
    Object.entries(art).map(async ([title, drawing]) => {
      const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 600" width="600" height="600">${drawing}</svg>`
      return { title, png: await sharp(Buffer.from(svg)).png().toBuffer() }
    }),
  )
