/**
 * Copies of DATA_DIR for nodes that join: whom such a node asks, and how a node that runs gives one.
 *
 * Thread: the I/O thread; a copy is made in a thread of its own.
 */
import type { ReplicatedLog } from '../../storage/cluster/replicated-log.ts';
import { give } from '../../storage/operations/peer-copy.ts';
import type { Log } from '../common/logger.ts';
import type { Peer } from './join.ts';
import { PeerCall } from './peers/calls.ts';
import { type PeerAddress, PeerConnection } from './peers/peer-connection.ts';
import type { PeerServer } from './peers/peer-server.ts';

/** Each takes room on the disk, and time of it. */
const COPIES_MAX = 2;
const LIST_MS = 5_000;

export function giveCopies(server: Pick<PeerServer, 'answer'>, dataDir: string, print: Log): void {
  let underWay = 0;
  const copy = async function* (node: string): AsyncGenerator<Buffer, void, void> {
    if (underWay === COPIES_MAX) throw new Error(`${COPIES_MAX} copies are being made already`);
    underWay += 1;
    try {
      print('info', `node ${node} takes a copy of what this one has`);
      yield* give(dataDir);
      print('info', `node ${node} has a copy of what this one has`);
    } finally {
      underWay -= 1;
    }
  };
  server.answer(PeerCall.copy, (request) => copy(request.toString()));
}

/** The other nodes that run. */
export async function peersOf(
  replicated: Pick<ReplicatedLog, 'nodes'>,
  addressOf: (announced: Buffer) => PeerAddress | undefined,
  own: { readonly node: string; readonly secret: string },
): Promise<Peer[]> {
  const peers: Peer[] = [];
  for (const [node, announced] of await replicated.nodes(LIST_MS)) {
    const address = addressOf(announced);
    if (node === own.node || address === undefined) continue;
    peers.push(peerOf(node, address, own));
  }
  return peers;
}

function peerOf(
  node: string,
  address: PeerAddress,
  own: { readonly node: string; readonly secret: string },
): Peer {
  let connection: PeerConnection | undefined;
  return {
    node,
    copy() {
      connection = new PeerConnection(address, own.secret, own.node);
      return connection.stream(PeerCall.copy, Buffer.from(own.node));
    },
    close: () => connection?.close(),
  };
}
