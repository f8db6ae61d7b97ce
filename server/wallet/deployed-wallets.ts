/**
 * Wallets that count as deployed: proxy wallets, safes and deposit wallets of the usual factory whose owners had an
 * API key. They are computed from the owners, in slices of the event loop. Rules: docs/protocol.md#deployed-wallets
 *
 * Thread: I/O.
 */
import { DERIVED_TYPES, type WalletFactories, Wallets } from '../auth/wallet-factory.ts';
import { nextIteration } from '../common/event-loop.ts';

/** Owners of a slice: some 0.5 ms. */
const SLICE = 10;

export class DeployedWallets {
  private readonly owners: () => readonly Uint8Array[];
  private readonly wallets: Wallets;
  /** Signature types of wallets. */
  private readonly known = new Map<string, number>();
  private count = 0;
  private pending: Promise<void> | undefined;

  /** @param owners addresses that had a key, the newest last */
  constructor(owners: () => readonly Uint8Array[], factories: WalletFactories) {
    this.owners = owners;
    // Clients look for the older kind first, and take the usual one where that is not deployed.
    this.wallets = new Wallets({ ...factories, uups: undefined });
  }

  /** @param type signature type; `undefined` = any */
  async has(address: Uint8Array, type?: number): Promise<boolean> {
    if (this.count < this.owners().length) {
      this.pending ??= this.derive().finally(() => {
        this.pending = undefined;
      });
      await this.pending;
    }
    const known = this.known.get(textOf(address));
    return known !== undefined && (type === undefined || type === known);
  }

  private async derive(): Promise<void> {
    const owners = this.owners();
    while (this.count < owners.length) {
      const end = Math.min(this.count + SLICE, owners.length);
      for (; this.count < end; this.count++) {
        for (const type of DERIVED_TYPES) {
          const owned = this.wallets.walletsOf(type, owners[this.count]!);
          for (const wallet of owned) this.known.set(textOf(wallet), type);
        }
      }
      if (this.count < owners.length) await nextIteration();
    }
  }
}

function textOf({ buffer, byteLength, byteOffset }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
}
