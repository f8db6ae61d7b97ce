/**
 * Peer copies of DATA_DIR: requested by a node that joins, sent by one that runs.
 *
 * Thread: the I/O thread; a copy is made in a thread of its own.
 */

import { Unreachable } from '../../storage/log/log.ts';
import { give } from '../../storage/operations/peer-copy.ts';
import type { ReplicatedLog } from '../../storage/replicated-log/replicated-log.ts';
import type { Log } from '../common/logger.ts';
import type { Config } from '../config/config.ts';
import { Announcements } from './announced.ts';
import { needsCopy, type Peer, takeCopy } from './join.ts';
import { PeerCall } from './peers/calls.ts';
import { addressOf, PeerConnection } from './peers/peer-connection.ts';
import type { PeerServer } from './peers/peer-server.ts';
import type { PeerSecrets } from './peers/secure.ts';
import { decodeSecretRecord, hasSecretOf, WRONG_SECRET } from './secret-record.ts';
import { openSharedLog, secretsOf } from './shared-log.ts';

/** Each takes room on the disk, and time of it. */
const COPIES_MAX = 2;
const LIST_MS = 5_000;

export function sendCopies(server: Pick<PeerServer, 'answer'>, dataDir: string, print: Log): void {
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

/** Throws Unreachable where the secret of this node is not that of the cluster: no other node would answer it. */
async function refuseStranger(
  replicated: Pick<ReplicatedLog, 'shared'>,
  secrets: PeerSecrets,
): Promise<void> {
  const value = await replicated.shared('secret', LIST_MS);
  const record = value && decodeSecretRecord(value);
  if (record !== undefined && !hasSecretOf(record, secrets)) throw new Unreachable(WRONG_SECRET);
}

/** Takes the copy of another node where DATA_DIR needs it; false where it does not. */
export async function joinCluster(
  config: Config,
  print: Log,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { cluster, dataDir, nodeId: node } = config;
  if (!needsCopy(dataDir)) return false;
  const secrets = secretsOf(config);
  const { replicated } = await openSharedLog(config, print);
  const announcements = new Announcements(replicated, cluster!.name, print);
  const peers = async (): Promise<Peer[]> => {
    await refuseStranger(replicated, secrets);
    const announced = await announcements.all(LIST_MS);
    const others = [...announced].filter(([name]) => name !== node);
    return others.map(([name, { last = 0, peers: address }]) => {
      let connection: PeerConnection | undefined;
      return {
        node: name,
        last,
        copy() {
          connection = new PeerConnection(addressOf(address), secrets, node);
          return connection.stream(PeerCall.copy, Buffer.from(node));
        },
        close: () => connection?.close(),
      };
    });
  };
  try {
    return await takeCopy({ dataDir, replicated, peers, print, signal });
  } finally {
    await replicated.close();
  }
}
