declare module 'parse-prometheus-text-format' {
  interface Family {
    name: string
    help: string
    type: string
    metrics: { value: string; labels?: Record<string, string> }[]
  }
  /** Parses Prometheus' text format. Throws if a line is malformed. */
  export default function parsePrometheusTextFormat(text: string): Family[]
}
