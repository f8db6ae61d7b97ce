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
  encodeWithdrawProposal,
  type FundsFields,
  type FundsKind,
  type ResolveFields,
  type WithdrawProposalFields,
} from '../../engine/commands.ts';
import { findRequest, type StoredRequest } from '../../engine/ledger/requests.ts';
import { RejectReason, type RejectReasonCode } from '../../engine/orders/reject-reasons.ts';
import { engineTime } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { sendCommands } from '../orders/own-commands.ts';
import { REJECT_TEXTS } from '../orders/reject-texts.ts';
import type { Explanation } from '../orders/result-details.ts';
import type { SeqlockReader } from '../orders/seqlock-reader.ts';
import type { Sequencer } from '../orders/sequencer.ts';
import { failureAnswer } from '../orders/slot-requests.ts';
import { type RefusalStatus, refusalStatus } from './refusals.ts';
import { shortageOf } from './shortage.ts';

export type LedgerOutcome =
  /** Applied now, or before; `first` is undefined where a market has resolved so under another id. */
  | {
      readonly kind: 'done';
      readonly isRepeated: boolean;
      readonly first: StoredRequest | undefined;
    }
  /** Nothing has changed; `first` is what an id was used for that was used before. */
  | {
      readonly kind: 'refused';
      readonly reason: RejectReasonCode;
      readonly status: RefusalStatus;
      readonly text: string;
      readonly first: StoredRequest | undefined;
      /** Of want of funds. */
      readonly explanation: Explanation | undefined;
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

  /** Moves money, or says who may sign for a wallet. */
  async funds(kind: FundsKind, fields: FundsFields): Promise<LedgerOutcome> {
    const [outcome] = await this.fundsOf(kind, [fields]);
    return outcome!;
  }

  /** Several of one kind as one batch; each has an outcome of its own, in their order. */
  fundsOf(kind: FundsKind, all: readonly FundsFields[]): Promise<readonly LedgerOutcome[]> {
    const out = new CommandBuffer(WORDS_MAX);
    const places = all.map((fields) => encodeFunds(out, kind, fields));
    return this.send(out, places, (i) => shortageOf(this.o.tables, kind, all[i]!));
  }

  /** Resolves with what was done under the ids of such commands; undefined for an id that is not used. */
  doneBefore(
    kind: FundsKind,
    all: readonly FundsFields[],
  ): Promise<readonly (StoredRequest | undefined)[]> {
    const { seqlock, tables } = this.o;
    const out = new CommandBuffer(WORDS_MAX);
    const places = all.map((fields) => encodeFunds(out, kind, fields));
    const { f64, i32 } = out;
    return seqlock.read(() =>
      places.map((at) => findRequest(tables, i32, f64, at, engineTime(tables))),
    );
  }

  /** Resolves a market, makes it void, or proposes so; its orders and payouts follow. */
  async resolve(fields: ResolveFields): Promise<LedgerOutcome> {
    const out = new CommandBuffer(WORDS_MAX);
    const [outcome] = await this.send(out, [encodeResolve(out, fields)], () => undefined);
    if (outcome!.kind === 'done') this.o.onResolve();
    return outcome!;
  }

  /** Takes the proposed payout of a market back. */
  async withdrawProposal(fields: WithdrawProposalFields): Promise<LedgerOutcome> {
    const out = new CommandBuffer(WORDS_MAX);
    const places = [encodeWithdrawProposal(out, fields)];
    const [outcome] = await this.send(out, places, () => undefined);
    return outcome!;
  }

  /** @param places where each command begins @param short what the one of an index is short of */
  private async send(
    { f64, i32, words }: CommandBuffer,
    places: readonly number[],
    short: (index: number) => Explanation | undefined,
  ): Promise<readonly LedgerOutcome[]> {
    const { seqlock, sequencer, tables } = this.o;
    const reasons = await sendCommands(sequencer, i32.slice(0, words));
    if (typeof reasons === 'string') {
      const [status, body] = failureAnswer(reasons);
      return places.map(() => ({ kind: 'failed', status, body }));
    }
    return seqlock.read(() =>
      places.map((at, i) => {
        const reason = reasons[i]! as RejectReasonCode;
        const first = findRequest(tables, i32, f64, at, engineTime(tables));
        return outcomeOf(reason, first, reason === RejectReason.notEnough ? short(i) : undefined);
      }),
    );
  }
}

function outcomeOf(
  reason: RejectReasonCode,
  first: StoredRequest | undefined,
  explanation: Explanation | undefined,
): LedgerOutcome {
  const isRepeated = reason === RejectReason.idRepeated;
  if (reason === RejectReason.accepted || isRepeated) return { kind: 'done', isRepeated, first };
  return {
    kind: 'refused',
    reason,
    status: refusalStatus(reason),
    text: REJECT_TEXTS[reason],
    first: reason === RejectReason.idConflict ? first : undefined,
    explanation,
  };
}
