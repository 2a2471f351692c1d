import { createContext } from 'preact'
import { useContext } from 'preact/hooks'

import type { Client } from '../base/api.ts'

/** The key with which the user is signed in, and the client that uses it. */
export interface Connection {
  api_key: string
  client: Client
  /** Whether the key is the operator's root key. */
  is_root: boolean
}

export const ConnectionContext = createContext<Connection | null>(null)

export function useConnection(): Connection {
  const connection = useContext(ConnectionContext)
  if (!connection) throw new Error('Not signed in')
  return connection
}

export const useClient = (): Client => useConnection().client
