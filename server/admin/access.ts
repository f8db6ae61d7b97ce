/**
 * Roles of bearer tokens, and the bound of wrong ones from an address.
 *
 * Thread: I/O. Not here: which operation needs which role (operation-row.ts, admin-table.ts).
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { callerKey, callerOf } from '../http/limits/callers.ts';

const ROLES = ['operator', 'resolver'] as const;
export type Role = (typeof ROLES)[number];

/** '' = nobody has the role. */
export type RoleTokens = Readonly<Record<Role, string>>;

/** Wrong tokens of an address in a window; then none of its tokens are looked at until its end. */
const WRONG_MAX = 5;
const WINDOW_MS = 60_000;
/** Addresses that are counted, some hundred bytes each; beyond them the oldest is forgotten. */
const ADDRESSES_MAX = 4_096;

interface Window {
  wrong: number;
  readonly endMs: number;
}

export class Access {
  private readonly elapsed: () => number;
  private readonly windows = new Map<string, Window>();

  /** @param elapsed milliseconds of a monotonic clock */
  constructor(elapsed: () => number) {
    this.elapsed = elapsed;
  }

  /** Seconds until tokens of an address are looked at; 0 = they are now. */
  waitSeconds(address: string): number {
    const window = this.windowOf(address);
    if (window === undefined || window.wrong < WRONG_MAX) return 0;
    return Math.ceil((window.endMs - this.elapsed()) / 1_000);
  }

  /** @returns `undefined` for a token of nobody, and '' for no token */
  roleOf(authorization: string, tokens: RoleTokens): Role | '' | undefined {
    const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
    if (token === undefined) return '';
    const sent = hashOf(token);
    // Each is compared, so that the time does not depend on which one it is.
    return ROLES.filter((role) => timingSafeEqual(sent, hashOf(tokens[role])))[0];
  }

  countWrong(address: string): void {
    const window = this.windowOf(address);
    if (window !== undefined) {
      window.wrong += 1;
      return;
    }
    const key = callerKey(callerOf(address));
    this.windows.delete(key);
    const [oldest] = this.windows.keys();
    if (this.windows.size >= ADDRESSES_MAX) this.windows.delete(oldest!);
    this.windows.set(key, { wrong: 1, endMs: this.elapsed() + WINDOW_MS });
  }

  /** The window of an address that has not ended. */
  private windowOf(address: string): Window | undefined {
    const window = this.windows.get(callerKey(callerOf(address)));
    return window !== undefined && window.endMs > this.elapsed() ? window : undefined;
  }
}

/** Hashes have equal length, which timingSafeEqual requires. */
function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
