/**
 * Short forms for tests of the ledger: orders in the notation of script.ts, everything else by
 * calls.
 */
import assert from 'node:assert/strict';
import type { WalletLimits } from '../../engine/commands.ts';
import { findPosition } from '../../engine/ledger/positions.ts';
import {
  cashReserved,
  cashTotal,
  nextResolving,
  sharesReserved,
  sharesTotal,
} from '../../engine/ledger/reads.ts';
import { findAccount } from '../../engine/orders/accounts.ts';
import { RejectReason, type RejectReasonCode } from '../../engine/orders/reject-reasons.ts';
import { seasonIsEnding } from '../../engine/season.ts';
import { type Capacities, RESOLVE_STEP_MAX } from '../../engine/tables/capacities.ts';
import type { TokenRow } from '../../engine/tables/units.ts';
import { addressWords } from './engine-driver.ts';
import { LedgerDuel } from './ledger-duel.ts';
import type { FundsLine, ResolveLine } from './naive-ledger.ts';
import type { Command } from './naive-types.ts';
import { ScriptReader } from './script.ts';

export const UNIT = 1_000_000;

export class LedgerScript {
  readonly duel: LedgerDuel;
  readonly #reader = new ScriptReader();
  #key = 0;

  constructor(capacities?: Capacities, limits?: Partial<WalletLimits>) {
    this.duel = new LedgerDuel(capacities, limits);
    this.do('at 2', 'market 1');
  }

  get t() {
    return this.duel.driver.t;
  }

  /** Runs commands, which must be accepted. */
  do(...lines: readonly string[]): this {
    for (const line of lines) assert.equal(this.reason(line), RejectReason.accepted, line);
    return this;
  }

  reason(line: string): RejectReasonCode {
    return this.duel.step(this.read(line));
  }

  read(line: string): Command {
    return this.#reader.read(line);
  }

  line(kind: FundsLine['kind'], wallet: number, amount: number, more = {}): FundsLine {
    this.#key += 1;
    const id = { isOperator: true, ms: 1_000, key: this.#key };
    return { kind, id, wallet, signer: 0, market: 1, amount, ...more };
  }

  ask(kind: FundsLine['kind'], wallet: number, amount: number, more = {}): RejectReasonCode {
    return this.duel.step(this.line(kind, wallet, amount, more));
  }

  fund(kind: FundsLine['kind'], wallet: number, amount: number, more = {}): this {
    assert.equal(this.ask(kind, wallet, amount, more), RejectReason.accepted, kind);
    return this;
  }

  resolve(weights: readonly number[], more: Partial<ResolveLine> = {}): RejectReasonCode {
    this.#key += 1;
    const id = { isOperator: true, ms: 1_000, key: this.#key };
    const line = { kind: 'resolve' as const, id, market: 1, weights, isVoid: false, group: 0 };
    return this.duel.step({ ...line, ...more });
  }

  withdrawProposal(market: number): RejectReasonCode {
    this.#key += 1;
    const id = { isOperator: true, ms: 1_000, key: this.#key };
    return this.duel.step({ kind: 'withdrawProposal', id, market });
  }

  /** Marks a wallet as an account of the house. */
  house(wallet: number): RejectReasonCode {
    return this.duel.step({ kind: 'house', wallet });
  }

  season(amount: number): RejectReasonCode {
    this.#key += 1;
    const id = { isOperator: true, ms: 1_000, key: this.#key };
    return this.duel.step({ kind: 'season', id, amount });
  }

  /** Ends a season in steps of one wallet, the last of which is at a time in seconds. */
  endSeason(amount: number, time: number): this {
    assert.equal(this.season(amount), RejectReason.accepted);
    this.do(`at ${time}`);
    while (seasonIsEnding(this.t)) this.duel.step({ kind: 'seasonStep', limit: 1 });
    return this;
  }

  /** Runs steps until every resolution is done; returns their number. */
  finish(limit = RESOLVE_STEP_MAX): number {
    let steps = 0;
    for (; nextResolving(this.t) !== 0; steps++) {
      this.duel.step({ kind: 'step', market: nextResolving(this.t), limit });
    }
    return steps;
  }

  cash(wallet: number): [number, number] {
    const account = findAccount(this.t, addressWords(wallet), 0);
    return [cashTotal(this.t, account), cashReserved(this.t, account)];
  }

  shares(wallet: number, token: number): [number, number] {
    const account = findAccount(this.t, addressWords(wallet), 0);
    const row = account === 0 ? 0 : findPosition(this.t, account, token as TokenRow);
    return [sharesTotal(this.t, row), sharesReserved(this.t, row)];
  }
}
