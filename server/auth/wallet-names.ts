/**
 * Names that operators gave to wallets: control records of the log. Only operators see them, and name
 * wallets by them.
 *
 * Thread: the I/O thread, or that of a command.
 */
import type { ControlRecord } from '../../storage/control-records/control-records.ts';
import { bytesToHex } from '../common/uint256.ts';

/** Some 10 MB at most. */
const WALLET_NAMES_MAX = 65_536;

export interface NamedWallet {
  readonly address: Uint8Array;
  readonly name: string;
}

export class WalletNames {
  private readonly write: (record: ControlRecord) => Promise<void>;
  private readonly wallets = new Map<string, NamedWallet>();
  private readonly byName = new Map<string, NamedWallet>();

  /** @param write resolves once a control record is durable and was taken here */
  constructor(write: (record: ControlRecord) => Promise<void>) {
    this.write = write;
  }

  /** Applies a durable record. An empty name removes the one before; a name of another wallet moves here. */
  take(address: Uint8Array, name: string): void {
    const text = textOf(address);
    const before = this.wallets.get(text);
    if (before !== undefined) this.remove(before);
    if (name === '') return;
    const namesake = this.byName.get(name);
    if (namesake !== undefined) this.remove(namesake);
    const wallet = { address, name };
    this.wallets.set(text, wallet);
    this.byName.set(name, wallet);
  }

  find(name: string): Uint8Array | undefined {
    return this.byName.get(name)?.address;
  }

  /**
   * @param addressText 0x and 40 lower-case hex digits
   * @returns '' without a name
   */
  nameOf(addressText: string): string {
    return this.wallets.get(addressText)?.name ?? '';
  }

  list(): NamedWallet[] {
    return [...this.wallets.values()];
  }

  hasRoom(address: Uint8Array): boolean {
    return this.wallets.size < WALLET_NAMES_MAX || this.wallets.has(textOf(address));
  }

  async put(address: Uint8Array, name: string): Promise<boolean> {
    if (this.nameOf(textOf(address)) === name) return false;
    await this.write({ about: 'name', address, name });
    return true;
  }

  private remove({ address, name }: NamedWallet): void {
    this.wallets.delete(textOf(address));
    this.byName.delete(name);
  }
}

function textOf(address: Uint8Array): string {
  return bytesToHex(address, 0, address.length);
}
