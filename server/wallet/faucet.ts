/**
 * Play money: the first API key of a wallet brings a deposit (FAUCET). A wallet without one gets it with its next
 * key: the node ended between key and deposit, or the deposit was refused.
 *
 * Thread: the I/O thread.
 */
import { findAccount } from '../../engine/orders/accounts.ts';
import { ADDRESS_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { bytesToHex, bytesToWords } from '../common/uint256.ts';
import type { LedgerCommands, LedgerOutcome } from './ledger-commands.ts';
import { operatorRequestId } from './request-id.ts';

interface FaucetParts {
  readonly tables: Tables;
  readonly ledger: Pick<LedgerCommands, 'funds'>;
  /** Micro-units. */
  readonly amount: number;
  readonly now: () => number;
  readonly warn: (line: string) => void;
}

/** Least time between two warnings of refused deposits: every new wallet would bring one. */
const WARN_MS = 60_000;

export class Faucet {
  private readonly parts: FaucetParts;
  /** Deposits in flight by wallet, so that two requests at once bring one. */
  private readonly coming = new Map<string, Promise<LedgerOutcome>>();
  private warnedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: FaucetParts) {
    this.parts = parts;
  }

  /**
   * @param isFirst the wallet had no API key before
   * @returns undefined without a deposit
   */
  async give(address: Uint8Array, isFirst: boolean): Promise<LedgerOutcome | undefined> {
    const { ledger, now, amount, tables } = this.parts;
    const name = bytesToHex(address, 0, address.length);
    const before = this.coming.get(name);
    if (before !== undefined) return before;
    const wallet = bytesToWords(address, new Int32Array(ADDRESS_WORDS));
    if (!isFirst && findAccount(tables, wallet, 0) !== 0) return undefined;
    const id = operatorRequestId(`${now()}-faucet-${name}`)!;
    const given = ledger
      .funds('deposit', { id, wallet, amount })
      .finally(() => this.coming.delete(name));
    this.coming.set(name, given);
    void given.then((outcome) => {
      if (outcome.kind === 'refused') this.warn(outcome.text);
    });
    return given;
  }

  private warn(why: string): void {
    const now = this.parts.now();
    if (now - this.warnedAt < WARN_MS) return;
    this.warnedAt = now;
    this.parts.warn(`FAUCET: a new API key brought no play money: ${why}`);
  }
}
