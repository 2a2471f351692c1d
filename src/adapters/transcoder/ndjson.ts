/** Yields the parsed lines of a newline-delimited JSON stream. An incomplete last line is skipped. */
export async function* readNdjson(body: ReadableStream<Uint8Array>): AsyncGenerator {
  let partialLine = ''
  const decoder = new TextDecoder()
  for await (const chunk of body) {
    partialLine += decoder.decode(chunk, { stream: true })
    const lines = partialLine.split('\n')
    partialLine = lines.pop() ?? ''
    for (const line of lines) if (line.trim()) yield JSON.parse(line)
  }
}
