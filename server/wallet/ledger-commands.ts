/**
 * Commands of the ledger and their answers: each request is applied once, and a repeated one gets the first answer,
 * which is read from the engine. Rules: docs/ledger.md#commands
 *
 * Thread: the I/O thread.
 */
import {
  CommandBuffer,
  encodeFunds,
  encodeHouse,
  encodeRelay,
  encodeResolve,
  encodeSeason,
  encodeWithdrawProposal,
  type FundsFields,
  type FundsKind,
  type RelayFields,
  type ResolveFields,
  type SeasonFields,
  type WithdrawProposalFields,
} from '../../engine/commands.ts';
import { findRequest, type StoredRequest } from '../../engine/ledger/requests.ts';
import { findAccount } from '../../engine/orders/accounts.ts';
import { RejectReason, type RejectReasonCode } from '../../engine/orders/reject-reasons.ts';
import { engineTime } from '../../engine/reads.ts';
import { relayedCount, relayFault } from '../../engine/relay.ts';
import { seasonHindrances } from '../../engine/season.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import {
  addControlRecord,
  type ControlRecord,
} from '../../storage/control-records/control-records.ts';
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
      readonly explanation: Explanation | undefined;
    }
  /** The node is busy or paused; `body` is JSON. The client may send the same id again. */
  | { readonly kind: 'failed'; readonly status: number; readonly body: string };

export interface LedgerParts {
  readonly tables: Tables;
  readonly sequenceLock: SequenceLockReader;
  readonly sequencer: Pick<Sequencer, 'submit' | 'whenCommitted'>;
  /** Called when steps are to be sent: of a resolution or of a season. */
  readonly onSteps: () => void;
}

/** Outcome of a command without a request id; `value` is read after it. */
export type CommandOutcome<T> =
  | { readonly kind: 'done'; readonly isRepeated: boolean; readonly value: T }
  | { readonly kind: 'refused'; readonly status: Reject['status']; readonly text: string }
  | { readonly kind: 'failed'; readonly status: number; readonly body: string };

/** `nonce` is the next one of the wallet; `call` is as in RelayFault. */
export type RelayOutcome =
  | { readonly kind: 'done' }
  | {
      readonly kind: 'refused';
      readonly reason: RejectNumber;
      readonly call: number;
      readonly nonce: number;
    }
  | { readonly kind: 'failed'; readonly status: number; readonly body: string };

/** Words of most commands: a resolution of 64 outcomes. */
const WORDS_MAX = 128;

export class LedgerCommands {
  private readonly parts: LedgerParts;

  constructor(parts: LedgerParts) {
    this.parts = parts;
  }

  async funds(kind: FundsKind, fields: FundsFields): Promise<LedgerOutcome> {
    const [outcome] = await this.fundsOf(kind, [fields]);
    return outcome!;
  }

  /** Runs several commands of one kind as one batch; each has an outcome of its own, in their order. */
  fundsOf(kind: FundsKind, all: readonly FundsFields[]): Promise<readonly LedgerOutcome[]> {
    const out = new CommandBuffer(WORDS_MAX);
    const places = all.map((fields) => encodeFunds(out, kind, fields));
    return this.send(out, places, (reason, i) =>
      reason === RejectReason.notEnough ? shortageOf(this.parts.tables, kind, all[i]!) : undefined,
    );
  }

  /**
   * Runs a payment to or from an account of the house and a control record as one batch. The record holds also where
   * the payment is refused.
   */
  async houseFunds(
    kind: 'deposit' | 'withdraw',
    fields: FundsFields & Required<Pick<FundsFields, 'wallet'>>,
    record: ControlRecord,
  ): Promise<LedgerOutcome> {
    const out = new CommandBuffer(WORDS_MAX);
    const places = [encodeFunds(out, kind, fields)];
    encodeHouse(out, fields.wallet);
    addControlRecord(out, record);
    const [outcome] = await this.send(out, places, () =>
      shortageOf(this.parts.tables, kind, fields),
    );
    return outcome!;
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

  /** Resolves once all batches that are dispatched are committed; with false where they may never be. */
  whenCommitted(): Promise<boolean> {
    return new Promise((resolve) => this.parts.sequencer.whenCommitted(resolve));
  }

  /** Resolves a market, voids it, or proposes a payout. Closed orders and payouts follow. */
  async resolve(fields: ResolveFields): Promise<LedgerOutcome> {
    const out = new CommandBuffer(WORDS_MAX);
    const [outcome] = await this.send(out, [encodeResolve(out, fields)], () => undefined);
    if (outcome!.kind === 'done') this.parts.onSteps();
    return outcome!;
  }

  /** Ends a season. Wallets are reset by the steps that follow. */
  async endSeason(fields: SeasonFields): Promise<LedgerOutcome> {
    const out = new CommandBuffer(WORDS_MAX);
    const { tables } = this.parts;
    const [outcome] = await this.send(out, [encodeSeason(out, fields)], (reason) =>
      reason === RejectReason.seasonBusy ? { detail: hindranceText(tables), facts: {} } : undefined,
    );
    if (outcome!.kind === 'done') this.parts.onSteps();
    return outcome!;
  }

  /** Applies a batch that its owner signed, whole or not at all. */
  async relay(fields: RelayFields): Promise<RelayOutcome> {
    const { sequenceLock, sequencer, tables } = this.parts;
    const out = new CommandBuffer(WORDS_MAX);
    const at = encodeRelay(out, fields);
    const { f64, i32, words } = out;
    const reasons = await sendCommands(sequencer, i32.slice(0, words));
    if (typeof reasons === 'string') {
      const [status, body] = failureAnswer(reasons);
      return { kind: 'failed', status, body };
    }
    const reason = reasons[0]! as RejectReasonCode;
    if (reason === RejectReason.accepted) return { kind: 'done' };
    return sequenceLock.read(() => {
      // What refused it may have changed since: then the call is not named.
      const fault = relayFault(tables, i32, f64, at);
      const call = fault?.reason === reason ? fault.call : -1;
      const nonce = relayedCount(tables, findAccount(tables, fields.wallet, 0));
      return { kind: 'refused', reason, call, nonce };
    });
  }

  /** Runs a command that tells by itself whether it was done before. */
  async run<T>(
    encode: (out: CommandBuffer) => void,
    read: (t: Tables) => T,
  ): Promise<CommandOutcome<T>> {
    const { sequenceLock, sequencer, tables } = this.parts;
    const out = new CommandBuffer(WORDS_MAX);
    encode(out);
    const reasons = await sendCommands(sequencer, out.i32.slice(0, out.words));
    if (typeof reasons === 'string') {
      const [status, body] = failureAnswer(reasons);
      return { kind: 'failed', status, body };
    }
    const reason = reasons[0]! as RejectReasonCode;
    const isRepeated = reason === RejectReason.idRepeated;
    if (reason !== RejectReason.accepted && !isRepeated)
      return { kind: 'refused', ...REJECTS[reason] };
    return { kind: 'done', isRepeated, value: await sequenceLock.read(() => read(tables)) };
  }

  async withdrawProposal(fields: WithdrawProposalFields): Promise<LedgerOutcome> {
    const out = new CommandBuffer(WORDS_MAX);
    const places = [encodeWithdrawProposal(out, fields)];
    const [outcome] = await this.send(out, places, () => undefined);
    return outcome!;
  }

  /**
   * @param places begin of each command
   * @param explain details of the refusal of the command of an index
   */
  private async send(
    { f64, i32, words }: CommandBuffer,
    places: readonly number[],
    explain: (reason: RejectReasonCode, index: number) => Explanation | undefined,
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
        return outcomeOf(reason, first, explain(reason, i));
      }),
    );
  }
}

/** Names what is left; '' where it has ended since. */
function hindranceText(t: Tables): string {
  const left = Object.entries(seasonHindrances(t)).filter(([, count]) => count > 0);
  return left.length === 0 ? '' : `left: ${left.map(([name, n]) => `${n} ${name}`).join(', ')}`;
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
