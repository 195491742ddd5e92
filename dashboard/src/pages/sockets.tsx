import { Button } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import { useProviderNames } from '../api/credentials.ts'
import type { Socket } from '../api/shapes.ts'
import { useEndSocket, useSockets } from '../api/sockets.ts'
import { ago, bytes, exactTime, fullCount } from '../format.ts'
import { Parts } from '../ui/bits.tsx'
import { ConfirmChange } from '../ui/confirm-change.tsx'
import { Card, Empty, Page } from '../ui/page.tsx'
import { PagedTable, main, nowrap, sub, type Column } from '../ui/table.tsx'
import { NO_MODEL, TOKENS, accountColumn } from './request-columns.tsx'

/** The list of open sockets, with buttons that close them. */
export default function SocketsPage() {
  const sockets = useSockets()
  const providerName = useProviderNames()
  const [ending, setEnding] = useState<Socket | null>(null)
  return (
    <Page
      title="Sockets"
      lead="Open WebSockets, oldest first. Each response, or minute of transcription, translation or speech, counts as a request of its key."
    >
      <Card flush>
        <PagedTable
          label="Sockets"
          query={sockets}
          columns={socketColumns(providerName, setEnding)}
          empty={
            <Empty icon="socket" title="No open sockets">
              Realtime and transcription sessions appear here while they are connected.
            </Empty>
          }
        />
      </Card>
      <EndSocket socket={ending} onClose={() => setEnding(null)} />
    </Page>
  )
}

const nameOf = ({ model }: Socket): string => model ?? NO_MODEL.request

/** TABLE of columns for a socket's age and usage. */
const USE: readonly Column<Socket>[] = [
  {
    title: 'Open since',
    from: 'middle',
    cell: ({ opened_at }) => (
      <time className={nowrap} dateTime={opened_at} title={exactTime(opened_at)}>
        {ago(opened_at)}
      </time>
    ),
  },
  {
    title: 'Requests',
    from: 'middle',
    right: true,
    cell: ({ requests }) => <span className={nowrap}>{fullCount(requests)}</span>,
  },
  TOKENS,
  {
    title: 'Data',
    from: 'wide',
    right: true,
    cell: ({ bytes_in, bytes_out }) => (
      <span className={nowrap}>{`${bytes(bytes_in)} → ${bytes(bytes_out)}`}</span>
    ),
  },
]

/** TABLE of columns; the last one asks before closing a socket. */
function socketColumns(
  providerName: (id: string) => string,
  end: (socket: Socket) => void,
): readonly Column<Socket>[] {
  return [
    {
      title: 'Socket',
      cell: (socket) => (
        <>
          <span className={main}>
            <Parts name={nameOf(socket)} />
          </span>
          <span className={sub}>{providerName(socket.provider)}</span>
        </>
      ),
    },
    {
      title: 'Key',
      cell: ({ key_id, key_name, end_user }) => (
        <>
          <Link className={main} href={`/keys/${key_id}`}>
            {key_name ?? key_id}
          </Link>
          {end_user !== null && <span className={sub}>for {end_user}</span>}
        </>
      ),
    },
    ...accountColumn(),
    ...USE,
    {
      title: 'Actions',
      quiet: true,
      right: true,
      cell: (socket) => (
        <Button
          variant="subtle"
          color="red"
          size="compact-sm"
          onClick={() => end(socket)}
          aria-label={`End ${nameOf(socket)}, open since ${exactTime(socket.opened_at)}`}
        >
          End
        </Button>
      ),
    },
  ]
}

function EndSocket({ socket, onClose }: { socket: Socket | null; onClose: () => void }) {
  const end = useEndSocket()
  return (
    <ConfirmChange
      title={`End the socket of “${socket?.key_name ?? socket?.key_id ?? ''}”?`}
      opened={socket !== null}
      onClose={onClose}
      submit="End socket"
      change={end}
      onConfirm={(done) => socket && end.mutate(socket.id, { onSuccess: done })}
    >
      The client gets close code 1001. The key keeps working, so the client may connect again.
    </ConfirmChange>
  )
}
