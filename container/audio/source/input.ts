import type { Sniffed } from '../../../src/contract/sniff.ts'

/** Demuxers that ffmpeg may use: only media containers, and no formats that reference other files (HLS, concat, DASH, SDP, …). */
const DEMUXERS =
  'mp3,wav,w64,aiff,flac,ogg,mov,matroska,aac,ac3,eac3,amr,amrnb,amrwb,caf,asf,au,ape,wv,tta,mpc,mpc8,mpegts,mpeg,avi,' +
  'flv,dts,gsm,loas'

/**
 * Input flags shared by ffprobe and ffmpeg. The demuxer whitelist prevents a malicious file from reading other files or the network.
 * `max_pixels` limits the size of pictures, because ffmpeg decodes them while probing, even if no picture is requested.
 */
export function inputFlags(sniffed: Sniffed): string[] {
  const limits = ['-probesize', '20M', '-analyzeduration', '20M', '-max_streams', '64', '-max_pixels', '4000000']
  const forced = sniffed.demuxer ? ['-f', sniffed.demuxer] : []
  return ['-protocol_whitelist', 'file', '-format_whitelist', DEMUXERS, ...limits, ...forced]
}

/** Returns input arguments for a file that the service itself has produced. */
export function trustedInput(demuxer: string, file: string): string[] {
  const whitelist = ['-protocol_whitelist', 'file', '-format_whitelist', demuxer]
  return [...whitelist, '-f', demuxer, '-i', `file:${file}`]
}

/** Arguments that limit the size of a single memory allocation by ffmpeg, in bytes. */
export const MAX_ALLOC = ['-max_alloc', String(256 * 1024 * 1024)]
