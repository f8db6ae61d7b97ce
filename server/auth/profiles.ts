/**
 * Public profiles that wallets set: a display name, once, and whether boards leave the wallet out. They are control
 * records of the log. Rules: docs/protocol.md#profiles
 *
 * Thread: the I/O thread, or that of a command.
 */
import type { ControlRecord } from '../../storage/control-records/control-records.ts';
import { bytesToHex } from '../common/uint256.ts';

export type ProfileRecord = Extract<ControlRecord, { readonly about: 'profile' }>;

export interface Profile {
  /** '' = none. */
  readonly name: string;
  readonly isHidden: boolean;
}

export type ProfileFault = 'nameSet' | 'nameTaken' | 'full';
/** Result of a change: the profile, or why nothing changed. */
export type ProfileChange = Profile | ProfileFault;

/** A display name: no text that reads as an address or a look-alike in another script. */
export const DISPLAY_NAME = '^(?!0[xX])[A-Za-z0-9_.-]{3,32}$';
/** Some 50 MB at most. */
const PROFILES_MAX = 262_144;
const NO_PROFILE: Profile = { name: '', isHidden: false };

export class Profiles {
  private readonly write: (record: ControlRecord) => Promise<void>;
  private readonly profiles = new Map<string, Profile>();
  private readonly hiddenWallets = new Set<string>();
  /** Wallets by their names in lower case. */
  private readonly owners = new Map<string, string>();
  private last: Promise<unknown> = Promise.resolve();

  /** @param write resolves once a control record is durable and was taken here */
  constructor(write: (record: ControlRecord) => Promise<void>) {
    this.write = write;
  }

  /** Applies a durable record. The first owner of a name keeps it. */
  take({ address, isHidden, name }: ProfileRecord): void {
    const wallet = bytesToHex(address, 0, address.length);
    this.owners.delete(this.of(wallet).name.toLowerCase());
    const isTaken = this.owners.has(name.toLowerCase());
    const kept = isTaken ? '' : name;
    if (kept !== '') this.owners.set(kept.toLowerCase(), wallet);
    if (kept === '' && !isHidden) this.profiles.delete(wallet);
    else this.profiles.set(wallet, { name: kept, isHidden });
    if (isHidden) this.hiddenWallets.add(wallet);
    else this.hiddenWallets.delete(wallet);
  }

  /** @param wallet 0x and 40 lower-case hex digits */
  of(wallet: string): Profile {
    return this.profiles.get(wallet) ?? NO_PROFILE;
  }

  /** Wallets that boards leave out, 0x and 40 lower-case hex digits. */
  get hidden(): ReadonlySet<string> {
    return this.hiddenWallets;
  }

  /** Name that answers show; '' of a hidden wallet and without one. */
  shownName(wallet: string): string {
    const { isHidden, name } = this.of(wallet);
    return isHidden ? '' : name;
  }

  /** Resolves once the change is durable. Changes run one after the other, so that a name has one owner. */
  change(address: Uint8Array, wanted: Partial<Profile>): Promise<ProfileChange> {
    const run = this.last.then(() => this.changeNow(address, wanted));
    this.last = run.catch(() => undefined);
    return run;
  }

  /** Returns why a change would be refused now, or undefined. */
  faultOf(address: Uint8Array, wanted: Partial<Profile>): ProfileFault | undefined {
    const wallet = bytesToHex(address, 0, address.length);
    const before = this.of(wallet);
    const { isHidden = before.isHidden, name = before.name } = wanted;
    if (before.name !== '' && name !== before.name) return 'nameSet';
    const owner = this.owners.get(name.toLowerCase()) ?? wallet;
    if (owner !== wallet) return 'nameTaken';
    const isNew = before === NO_PROFILE && (name !== '' || isHidden);
    return isNew && this.profiles.size >= PROFILES_MAX ? 'full' : undefined;
  }

  private async changeNow(address: Uint8Array, wanted: Partial<Profile>): Promise<ProfileChange> {
    const fault = this.faultOf(address, wanted);
    if (fault !== undefined) return fault;
    const wallet = bytesToHex(address, 0, address.length);
    const before = this.of(wallet);
    const { isHidden = before.isHidden, name = before.name } = wanted;
    if (name === before.name && isHidden === before.isHidden) return before;
    await this.write({ about: 'profile', address, name, isHidden });
    return this.of(wallet);
  }
}
