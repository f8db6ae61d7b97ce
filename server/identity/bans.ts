/**
 * Banned wallets: stored beside the keys, known to the threads that check orders. What follows for requests is in
 * auth.ts, for orders in ../orders/prepare.ts.
 *
 * Thread: the I/O thread, or that of a command.
 */
import type { OperatorNote, OperatorStore } from '../../storage/kv/operator-rows.ts';
import { bytesToHex, bytesToWords } from '../common/uint256.ts';
import { BannedAddresses } from './banned-addresses.ts';

export interface Ban extends OperatorNote {
  /** 20 bytes. */
  readonly address: Uint8Array;
}

const ADDRESS_WORDS = 5;

export class Bans {
  readonly shared = new BannedAddresses();
  private readonly store: Pick<OperatorStore, 'putBan'>;
  /** By address text. */
  private readonly bans = new Map<string, Ban>();

  constructor(store: Pick<OperatorStore, 'bans' | 'putBan'>) {
    this.store = store;
    for (const ban of store.bans()) this.take(ban);
  }

  /** @param addressText 0x and 40 lower-case hex digits */
  has(addressText: string): boolean {
    return this.bans.has(addressText);
  }

  list(): Ban[] {
    return [...this.bans.values()];
  }

  hasRoom(): boolean {
    return this.shared.hasRoom();
  }

  /** Resolves once it is on disk, with false where the wallet was banned before. It holds at once. */
  async add(ban: Ban): Promise<boolean> {
    if (this.has(textOf(ban.address))) return false;
    this.take(ban);
    try {
      await this.store.putBan(ban.address, ban);
    } catch (error) {
      this.forget(ban.address);
      throw error;
    }
    return true;
  }

  /** Resolves once it is on disk, with false where the wallet was not banned. */
  async lift(address: Uint8Array): Promise<boolean> {
    if (!this.has(textOf(address))) return false;
    await this.store.putBan(address, undefined);
    this.forget(address);
    return true;
  }

  private take(ban: Ban): void {
    this.bans.set(textOf(ban.address), ban);
    this.shared.set(wordsOf(ban.address), true);
  }

  private forget(address: Uint8Array): void {
    this.bans.delete(textOf(address));
    this.shared.set(wordsOf(address), false);
  }
}

function textOf(address: Uint8Array): string {
  return bytesToHex(address, 0, address.length);
}

function wordsOf(address: Uint8Array): Int32Array {
  return bytesToWords(address, new Int32Array(ADDRESS_WORDS));
}
