/** The lines of a newline-delimited JSON stream, parsed. A cut-off last line is not answered. */
export async function* readNdjson(body: ReadableStream<Uint8Array>): AsyncGenerator {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true })
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.trim()) yield JSON.parse(line)
  }
}
