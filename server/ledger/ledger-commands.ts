/**
 * Sends commands of the ledger, and gives their answers: each request is applied once, and a repeated one gets
 * the first answer, which is read from the engine. Rules: docs/ledger.md#commands
 *
 * Thread: the I/O thread.
 */
import {
  CommandBuffer,
  encodeFunds,
  encodeResolve,
  type FundsFields,
  type FundsKind,
  type ResolveFields,
} from '../../engine/commands.ts';
import { type RequestAnswer, requestAnswer } from '../../engine/ledger/reads.ts';
import { findRequest } from '../../engine/ledger/requests.ts';
import { RejectReason, type RejectReasonCode } from '../../engine/orders/reject-reasons.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { sendCommands } from '../orders/own-commands.ts';
import { REJECT_TEXTS } from '../orders/reject-texts.ts';
import type { SeqlockReader } from '../orders/seqlock-reader.ts';
import type { Sequencer } from '../orders/sequencer.ts';
import { failureAnswer } from '../orders/slot-requests.ts';
import { type RefusalStatus, refusalStatus } from './refusals.ts';

export type LedgerOutcome =
  /** Applied now, or before; `first` is undefined where a market has resolved so under another id. */
  | {
      readonly kind: 'done';
      readonly isRepeated: boolean;
      readonly first: RequestAnswer | undefined;
    }
  /** Nothing has changed. */
  | {
      readonly kind: 'refused';
      readonly reason: RejectReasonCode;
      readonly status: RefusalStatus;
      readonly text: string;
    }
  /** The node takes nothing for the time being; `body` is JSON. It may be sent again with the same id. */
  | { readonly kind: 'failed'; readonly status: number; readonly body: string };

export interface LedgerParts {
  readonly tables: Tables;
  readonly seqlock: SeqlockReader;
  readonly sequencer: Pick<Sequencer, 'submit'>;
  /** Called when a market has begun to resolve. */
  readonly onResolve: () => void;
}

/** Words of the largest command: a resolution of 64 outcomes. */
const WORDS_MAX = 128;

export class LedgerCommands {
  private readonly o: LedgerParts;

  constructor(parts: LedgerParts) {
    this.o = parts;
  }

  /** Deposit, withdraw, split, merge, or declare. */
  funds(kind: FundsKind, fields: FundsFields): Promise<LedgerOutcome> {
    const out = new CommandBuffer(WORDS_MAX);
    encodeFunds(out, kind, fields);
    return this.send(out);
  }

  /** Resolves a market, or makes it void; its orders and payouts follow. */
  async resolve(fields: ResolveFields): Promise<LedgerOutcome> {
    const out = new CommandBuffer(WORDS_MAX);
    encodeResolve(out, fields);
    const outcome = await this.send(out);
    if (outcome.kind === 'done') this.o.onResolve();
    return outcome;
  }

  private async send({ f64, i32, words }: CommandBuffer): Promise<LedgerOutcome> {
    const { seqlock, sequencer, tables } = this.o;
    const reasons = await sendCommands(sequencer, i32.slice(0, words));
    if (typeof reasons === 'string') {
      const [status, body] = failureAnswer(reasons);
      return { kind: 'failed', status, body };
    }
    const reason = reasons[0]! as RejectReasonCode;
    const isRepeated = reason === RejectReason.idRepeated;
    if (reason !== RejectReason.accepted && !isRepeated) {
      const status = refusalStatus(reason);
      return { kind: 'refused', reason, status, text: REJECT_TEXTS[reason] };
    }
    const first = await seqlock.read(() => {
      const row = findRequest(tables, i32, f64, 0);
      return row === 0 ? undefined : requestAnswer(tables, row);
    });
    return { kind: 'done', isRepeated, first };
  }
}
