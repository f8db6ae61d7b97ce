import type { CatalogMarket } from '../../../storage/catalog/catalog-file.ts';

/** Runs in the process of the attacker, until its time is up. */
type Attacking = (target: Target) => Promise<void>;

export interface Attack {
  readonly does: string;
  /** Row of the table of SECURITY.md that has to hold against it. */
  readonly bound: string;
  /** True in the short form, too: one attack for each mechanism. */
  readonly isShort?: true;
  /** Accounts that it may add to the tables, for attacks on accounts. */
  readonly accountsMax?: number;
  /** Requests that may be answered 200, for attacks that aim at them. */
  readonly servedMax?: number;
  /** Signers that the node may recover in a second to explain wrong signatures. */
  readonly recoveriesPerSecond?: number;
  readonly run: Attacking;
}

/** Input from the parent: the node, and the time of the attack. */
export interface Assignment {
  readonly attack: string;
  readonly port: number;
  readonly adminPort: number;
  readonly address: string;
  readonly seconds: number;
  readonly seed: number;
  /** Markets that the well-behaved client does not use. */
  readonly markets: readonly CatalogMarket[];
}

export interface Attacked {
  /** Number of requests, messages or connections of the attack. */
  readonly did: number;
  /** Status codes and close codes of the answers, with their counts. */
  readonly answers: Readonly<Record<string, number>>;
}

const START_MS_MAX = 20_000;

/** The node from an attacker's view, and counts of the attack. */
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

  /** True while there is time; an attack that a busy machine has not served gets some more. */
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
