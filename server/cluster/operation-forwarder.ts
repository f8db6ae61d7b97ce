/**
 * Changes that operators make by the admin listener of a node that follows: the node that leads makes them. Who may
 * make them was checked by the node that took them; both have them in their audit logs.
 *
 * Thread: the I/O thread.
 */
import type { MakeElsewhere, OperationAnswer, OperationCall } from '../admin/operations.ts';
import type { AppliedSequence } from '../orders/applied-sequence.ts';
import { decode, encode } from './forwarded-request.ts';
import { NOT_FORWARDED } from './forwarder.ts';
import { type LeaderLink, NOT_LEADING } from './leader-link.ts';
import { PeerCall } from './peers/calls.ts';
import type { PeerServer } from './peers/peer-server.ts';

/** So long an answer waits until the node that took the request shows what has changed. */
const SHOWN_MS_MAX = 1_000;

type CallHead = Omit<OperationCall, 'body'>;
type AnswerHead = Omit<OperationAnswer, 'body'>;

export class OperationForwarder {
  private readonly node: string;
  private readonly link: LeaderLink;
  private readonly isLeading: () => boolean;

  constructor(node: string, link: LeaderLink, isLeading: () => boolean) {
    this.node = node;
    this.link = link;
    this.isLeading = isLeading;
  }

  /** @param applied of this node: whoever has an answer of it finds the change there */
  forwardTo(applied: AppliedSequence): MakeElsewhere {
    return async ({ actor, body, key, query }) => {
      if (this.isLeading()) return undefined;
      const head: CallHead = { key, query, actor: `${actor}, at ${this.node}` };
      const outcome = await this.link.call(PeerCall.operation, encode(head, body));
      this.link.meters.ended('operation', outcome);
      if (outcome === 'here') return undefined;
      if (typeof outcome === 'string') {
        const [status, text] = NOT_FORWARDED[outcome];
        return { status, body: text };
      }
      const answer = decode(outcome);
      const made = answer.head as AnswerHead;
      await applied.when(made.sequence ?? 0, SHOWN_MS_MAX);
      return { ...made, body: answer.body.toString() };
    };
  }

  /** Makes what other nodes send here. */
  serve(
    server: Pick<PeerServer, 'answer'>,
    run: (call: OperationCall) => Promise<OperationAnswer>,
  ): void {
    server.answer(PeerCall.operation, async (bytes) => {
      if (!this.isLeading()) throw new Error(NOT_LEADING);
      const { body, head } = decode(bytes);
      const { body: text, ...answer } = await run({ ...(head as CallHead), body });
      return encode(answer, Buffer.from(text));
    });
  }
}
