/**
 * Changes that operators make on the admin listener of a follower: the leader makes them. The receiving node checks the
 * admin token; both nodes have the change in their audit logs.
 *
 * Thread: the I/O thread.
 */
import type { MakeElsewhere, OperationAnswer, OperationCall } from '../admin/operations.ts';
import type { AppliedSequence } from '../orders/intake/applied-sequence.ts';
import { decode, encode } from './forwarded-requests.ts';
import type { Forwarder } from './forwarder.ts';
import { PeerCall } from './peers/calls.ts';
import type { PeerServer } from './peers/peer-server.ts';

/** Longest wait of an answer until the receiving node shows the change. */
const SHOWN_MS_MAX = 1_000;

type CallHead = Omit<OperationCall, 'body'>;
type AnswerHead = Omit<OperationAnswer, 'body'>;

export class OperationForwarder {
  private readonly node: string;
  private readonly forwarder: Forwarder;

  constructor(node: string, forwarder: Forwarder) {
    this.node = node;
    this.forwarder = forwarder;
  }

  forwardTo(applied: AppliedSequence): MakeElsewhere {
    return async ({ actor, body, key, query, role }) => {
      if (!this.forwarder.isNeeded()) return undefined;
      const head: CallHead = { key, query, actor: `${actor}, at ${this.node}`, role };
      const request = encode(head, body);
      const outcome = await this.forwarder.send(PeerCall.operation, request, ['operation']);
      if (outcome === 'here') return undefined;
      if (!Buffer.isBuffer(outcome)) return { status: outcome.status, body: outcome.body };
      const answer = decode(outcome);
      const made = answer.head as AnswerHead;
      await applied.when(made.sequence ?? 0, SHOWN_MS_MAX);
      return { ...made, body: answer.body.toString() };
    };
  }

  serve(
    server: Pick<PeerServer, 'answer'>,
    run: (call: OperationCall) => Promise<OperationAnswer>,
  ): void {
    this.forwarder.serve(server, PeerCall.operation, async (bytes) => {
      const { body, head } = decode(bytes);
      const { body: text, ...answer } = await run({ ...(head as CallHead), body });
      return encode(answer, Buffer.from(text));
    });
  }
}
