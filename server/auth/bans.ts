/**
 * Banned wallets: control records of the log, which the threads that check orders know. auth.ts answers
 * requests of banned wallets, ../orders/worker/prepare.ts their orders.
 *
 * Thread: the I/O thread, or that of a command.
 */
import type { ControlRecord, Decision } from '../../storage/control-records/control-records.ts';
import { bytesToHex, bytesToWords } from '../common/uint256.ts';
import { BannedAddresses } from './banned-addresses.ts';

export interface Ban extends Decision {
  readonly address: Uint8Array;
}

const ADDRESS_WORDS = 5;

export class Bans {
  readonly shared = new BannedAddresses();
  private readonly write: (record: ControlRecord) => Promise<void>;
  private readonly bans = new Map<string, Ban>();

  /** @param write resolves once a control record is durable and was taken here */
  constructor(write: (record: ControlRecord) => Promise<void>) {
    this.write = write;
  }

  /** Takes what is durable; without a decision the ban is lifted. */
  take(address: Uint8Array, decision: Decision | undefined): void {
    if (decision === undefined) this.bans.delete(textOf(address));
    else this.bans.set(textOf(address), { address, ...decision });
    this.shared.set(wordsOf(address), decision !== undefined);
  }

  has(addressText: string): boolean {
    return this.bans.has(addressText);
  }

  list(): Ban[] {
    return [...this.bans.values()];
  }

  hasRoom(): boolean {
    return this.shared.hasRoom();
  }

  /**
   * Resolves once the ban is durable; with false for a wallet that was banned before. The ban applies at
   * once.
   */
  async add({ address, reason, since }: Ban): Promise<boolean> {
    if (this.has(textOf(address))) return false;
    const decision = { since, reason };
    this.take(address, decision);
    try {
      await this.write({ about: 'ban', address, decision });
    } catch (error) {
      this.take(address, undefined);
      throw error;
    }
    return true;
  }

  async lift(address: Uint8Array): Promise<boolean> {
    if (!this.has(textOf(address))) return false;
    await this.write({ about: 'ban', address, decision: undefined });
    return true;
  }
}

function textOf(address: Uint8Array): string {
  return bytesToHex(address, 0, address.length);
}

function wordsOf(address: Uint8Array): Int32Array {
  return bytesToWords(address, new Int32Array(ADDRESS_WORDS));
}
