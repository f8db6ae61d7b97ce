/**
 * Banned wallets: notes of the log, known to the threads that check orders. What follows for requests is in
 * auth.ts, for orders in ../orders/prepare.ts.
 *
 * Thread: the I/O thread, or that of a command.
 */
import type { Decision, Note } from '../../storage/notes/notes.ts';
import { bytesToHex, bytesToWords } from '../common/uint256.ts';
import { BannedAddresses } from './banned-addresses.ts';

export interface Ban extends Decision {
  /** 20 bytes. */
  readonly address: Uint8Array;
}

const ADDRESS_WORDS = 5;

export class Bans {
  readonly shared = new BannedAddresses();
  private readonly write: (note: Note) => Promise<void>;
  /** By address text. */
  private readonly bans = new Map<string, Ban>();

  /** @param write resolves once a note is durable and was taken here */
  constructor(write: (note: Note) => Promise<void>) {
    this.write = write;
  }

  /** Takes what is durable; without a decision the ban is lifted. */
  take(address: Uint8Array, decision: Decision | undefined): void {
    if (decision === undefined) this.bans.delete(textOf(address));
    else this.bans.set(textOf(address), { address, ...decision });
    this.shared.set(wordsOf(address), decision !== undefined);
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

  /** Resolves once it is durable, with false where the wallet was banned before. It holds at once. */
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

  /** Resolves once it is durable, with false where the wallet was not banned. */
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
