/**
 * The other side of a bare hop: answers each call of a node of a cluster with so many bytes, and does nothing else.
 *
 * Thread: the child's only one.
 */
import { PeerCall } from '../../server/cluster/peers/calls.ts';
import { PeerServer } from '../../server/cluster/peers/peer-server.ts';
import { answerQuestions } from '../common/child.ts';

export interface HopOptions {
  readonly secret: string;
  /** Bytes of an answer. */
  readonly bytes: number;
}

async function open({ bytes, secret }: HopOptions): Promise<number> {
  const server = new PeerServer({
    secrets: { current: secret, previous: '' },
    host: '127.0.0.1',
    port: 0,
    print: () => undefined,
  });
  const answer = Buffer.alloc(bytes, 7);
  server.answer(PeerCall.orders, async () => answer);
  return server.listen();
}

answerQuestions({ open });
