/** What an attack is: a row of the table of attacks.ts, and what it is given to work with. */
import type { CatalogMarket } from '../../../storage/catalog/catalog-file.ts';

/** Runs in the process of the attacker, until its time is up. */
type Attacking = (target: Target) => Promise<void>;

export interface Attack {
  readonly does: string;
  /** The row of the table of SECURITY.md that has to hold against it. */
  readonly bound: string;
  /** Whether the short form runs it, too: one attack for each mechanism. */
  readonly isShort?: true;
  /** Accounts that it may add to the tables, where that is what it is after. */
  readonly accountsMax?: number;
  /** Requests that may be answered 200, likewise. */
  readonly servedMax?: number;
  /** Signers that the node may recover in a second to explain wrong signatures. */
  readonly recoveriesPerSecond?: number;
  readonly run: Attacking;
}

/** What the parent tells of the node, and for how long to attack it. */
export interface Assignment {
  readonly attack: string;
  readonly port: number;
  readonly adminPort: number;
  /** The attacker's own, by which the node counts what it does. */
  readonly address: string;
  readonly seconds: number;
  readonly seed: number;
  /** Those that the well-behaved client leaves alone. */
  readonly markets: readonly CatalogMarket[];
}

/** What the attacker reports at its end. */
export interface Attacked {
  /** Requests, messages or connections, whatever the attack is made of. */
  readonly did: number;
  /** Status codes and close codes that it was answered, and how often. */
  readonly answers: Readonly<Record<string, number>>;
}

const START_MS_MAX = 20_000;

/** The node as an attack sees it, and the account of what was done to it. */
export class Target {
  readonly port: number;
  readonly address: string;
  readonly adminPort: number;
  readonly seed: number;
  readonly markets: readonly CatalogMarket[];
  did = 0;
  readonly answers: Record<string, number> = {};
  private readonly endsAt: number;

  constructor({ address, adminPort, markets, port, seconds, seed }: Assignment) {
    this.port = port;
    this.address = address;
    this.adminPort = adminPort;
    this.seed = seed;
    this.markets = markets;
    this.endsAt = performance.now() + 1_000 * seconds;
  }

  /** Whose turn on a busy machine has not come in its time gets some more. */
  get goesOn(): boolean {
    const late = this.did === 0 ? START_MS_MAX : 0;
    return performance.now() < this.endsAt + late;
  }

  get msLeft(): number {
    return Math.max(0, this.endsAt - performance.now());
  }

  get tokens(): readonly string[] {
    return this.markets.flatMap(({ tokenIds }) => tokenIds);
  }

  answered(what: string): void {
    this.answers[what] = (this.answers[what] ?? 0) + 1;
  }
}
