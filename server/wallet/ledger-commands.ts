/**
 * Commands of the ledger and their answers: each request is applied once, and a repeated one gets the first answer,
 * which is read from the engine. Rules: docs/ledger.md#commands
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
import { REJECTS, type Reject, type RejectNumber } from '../common/refusals.ts';
import type { SequenceLockReader } from '../orders/exchange-memory/sequence-lock-reader.ts';
import { failureAnswer } from '../orders/exchange-memory/slot-requests.ts';
import { sendCommands } from '../orders/intake/internal-commands.ts';
import type { Sequencer } from '../orders/intake/sequencer.ts';
import type { Explanation } from '../orders/worker/result-details.ts';
import { shortageOf } from './shortage.ts';

export type LedgerOutcome =
  /** Applied now or earlier; `first` is undefined if another id resolved the market in this way. */
  | {
      readonly kind: 'done';
      readonly isRepeated: boolean;
      readonly first: StoredRequest | undefined;
    }
  /** Nothing changed; `first` is the earlier command of a used id. */
  | {
      readonly kind: 'refused';
      readonly reason: RejectNumber;
      readonly status: Reject['status'];
      readonly text: string;
      readonly first: StoredRequest | undefined;
      /** Missing funds. */
      readonly explanation: Explanation | undefined;
    }
  /** The node is busy or paused; `body` is JSON. The client may send the same id again. */
  | { readonly kind: 'failed'; readonly status: number; readonly body: string };

export interface LedgerParts {
  readonly tables: Tables;
  readonly sequenceLock: SequenceLockReader;
  readonly sequencer: Pick<Sequencer, 'submit'>;
  readonly onResolve: () => void;
}

/** Words of the largest command: a resolution of 64 outcomes. */
const WORDS_MAX = 128;

export class LedgerCommands {
  private readonly parts: LedgerParts;

  constructor(parts: LedgerParts) {
    this.parts = parts;
  }

  /** Moves money, or changes the signer of a wallet. */
  async funds(kind: FundsKind, fields: FundsFields): Promise<LedgerOutcome> {
    const [outcome] = await this.fundsOf(kind, [fields]);
    return outcome!;
  }

  /** Runs several commands of one kind as one batch; each has an outcome of its own, in their order. */
  fundsOf(kind: FundsKind, all: readonly FundsFields[]): Promise<readonly LedgerOutcome[]> {
    const out = new CommandBuffer(WORDS_MAX);
    const places = all.map((fields) => encodeFunds(out, kind, fields));
    return this.send(out, places, (i) => shortageOf(this.parts.tables, kind, all[i]!));
  }

  /** Returns results of earlier commands by id; undefined for an unused id. */
  doneBefore(
    kind: FundsKind,
    all: readonly FundsFields[],
  ): Promise<readonly (StoredRequest | undefined)[]> {
    const { sequenceLock, tables } = this.parts;
    const out = new CommandBuffer(WORDS_MAX);
    const places = all.map((fields) => encodeFunds(out, kind, fields));
    const { f64, i32 } = out;
    return sequenceLock.read(() =>
      places.map((at) => findRequest(tables, i32, f64, at, engineTime(tables))),
    );
  }

  /** Resolves a market, voids it, or proposes a payout. Closed orders and payouts follow. */
  async resolve(fields: ResolveFields): Promise<LedgerOutcome> {
    const out = new CommandBuffer(WORDS_MAX);
    const [outcome] = await this.send(out, [encodeResolve(out, fields)], () => undefined);
    if (outcome!.kind === 'done') this.parts.onResolve();
    return outcome!;
  }

  async withdrawProposal(fields: WithdrawProposalFields): Promise<LedgerOutcome> {
    const out = new CommandBuffer(WORDS_MAX);
    const places = [encodeWithdrawProposal(out, fields)];
    const [outcome] = await this.send(out, places, () => undefined);
    return outcome!;
  }

  /**
   * @param places begin of each command
   * @param short shortage of the command of an index
   */
  private async send(
    { f64, i32, words }: CommandBuffer,
    places: readonly number[],
    short: (index: number) => Explanation | undefined,
  ): Promise<readonly LedgerOutcome[]> {
    const { sequenceLock, sequencer, tables } = this.parts;
    const reasons = await sendCommands(sequencer, i32.slice(0, words));
    if (typeof reasons === 'string') {
      const [status, body] = failureAnswer(reasons);
      return places.map(() => ({ kind: 'failed', status, body }));
    }
    return sequenceLock.read(() =>
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
    status: REJECTS[reason].status,
    text: REJECTS[reason].text,
    first: reason === RejectReason.idConflict ? first : undefined,
    explanation,
  };
}
