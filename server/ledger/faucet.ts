/**
 * Play money: the first API key of a wallet brings a deposit (FAUCET). A wallet that has none yet, because the node
 * ended between its key and its deposit or the deposit was refused, gets it with its next key.
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
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly warn: (line: string) => void;
}

/** Least time between two warnings that a deposit was refused: every new wallet would bring one. */
const WARN_MS = 60_000;

export class Faucet {
  private readonly o: FaucetParts;
  /** Deposits on their way, by wallet: who asks twice at once gets one. */
  private readonly coming = new Map<string, Promise<LedgerOutcome>>();
  private warnedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: FaucetParts) {
    this.o = parts;
  }

  /** @param isFirst the wallet had no API key before. Undefined: there is nothing to give. */
  async give(address: Uint8Array, isFirst: boolean): Promise<LedgerOutcome | undefined> {
    const { ledger, now, amount, tables } = this.o;
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
    const now = this.o.now();
    if (now - this.warnedAt < WARN_MS) return;
    this.warnedAt = now;
    this.o.warn(`FAUCET: a new API key brought no play money: ${why}`);
  }
}
