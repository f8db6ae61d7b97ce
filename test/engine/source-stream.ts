/**
 * Random commands of an exchange with a ledger and a source: the stream of ledger-stream.ts, and
 * between its commands a source. Its levels follow a price of its own, cross paper orders now and
 * then, and sometimes one another.
 */

import type { Random } from '../common/random.ts';
import type { LedgerCommand } from './ledger-duel.ts';
import { LedgerStream } from './ledger-stream.ts';
import { type OrderLine, SOURCE, type SourceLine } from './naive-types.ts';
import type { StreamShape } from './stream.ts';
import { MARKETS } from './stream.ts';

const SHARE = 1_000_000;
const RECENT_MAX = 60;
const BAD_SIZES = [-1, 0.5, Number.NaN, 2 ** 53, Number.POSITIVE_INFINITY];

/** First tokens of markets with two outcomes, with their initial grids. */
const PAIRS: readonly { readonly token: number; readonly grid: number }[] = MARKETS.flatMap(
  ([outcomes, { grid = 100 }], i) => {
    const before = MARKETS.slice(0, i).reduce((sum, [count]) => sum + count, 0);
    return outcomes === 2 ? [{ token: 1 + before, grid }] : [];
  },
);

/** Source levels, prints and fills that use the newest orders. */
export class RandomSource {
  readonly #random: Random;
  readonly #middle = PAIRS.map(({ grid }) => Math.floor(grid / 2));
  readonly #recent: SourceLine[] = [];
  readonly #orders: OrderLine[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  sees(order: OrderLine): void {
    this.#orders.push(order);
    if (this.#orders.length > RECENT_MAX) this.#orders.shift();
  }

  next(): SourceLine {
    const random = this.#random;
    if (this.#recent.length > 0 && random.chance(35)) return this.#again();
    if (this.#orders.length > 0 && random.chance(20)) {
      const { id } = random.pick(this.#orders);
      const size = random.chance(5) ? random.pick([0, ...BAD_SIZES]) : this.#size();
      return { kind: 'fill', id, size };
    }
    const line = this.#level();
    this.#recent.push(line);
    if (this.#recent.length > RECENT_MAX) this.#recent.shift();
    return line;
  }

  #again(): SourceLine {
    const random = this.#random;
    const line = random.pick(this.#recent);
    return random.chance(20) ? line : { ...line, size: random.chance(50) ? 0 : this.#size() };
  }

  #size(): number {
    const random = this.#random;
    if (random.chance(20)) return random.between(1, 300);
    return random.between(1, 40) * (random.chance(50) ? SHARE : 333_333);
  }

  /**
   * Bids below a price that drifts, asks above it. A level that crosses is older than the last move
   * of the price.
   */
  #level(): SourceLine {
    const random = this.#random;
    const at = random.below(PAIRS.length);
    const { grid, token } = PAIRS[at]!;
    const before = this.#middle[at]!;
    if (random.chance(10)) {
      const moved = before + random.between(-2, 2);
      this.#middle[at] = Math.min(Math.max(moved, 2), grid - 2);
    }
    const isAsk = random.chance(50);
    const away = 1 + random.below(6);
    const ticks = Math.min(Math.max(before + (isAsk ? away : -away), 1), grid - 1);
    const isOther = random.chance(30);
    const own = (ticks * 10_000) / grid;
    const pips = random.chance(5) ? random.pick([0, 10_000, -1, 5_001, 3_333]) : own;
    return {
      kind: random.chance(15) ? 'print' : 'level',
      token: random.chance(2) ? random.pick([0, 90, 7]) : token + (isOther ? 1 : 0),
      side: isAsk === isOther ? 'BUY' : 'SELL',
      pips: isOther ? 10_000 - pips : pips,
      size: random.chance(5) ? random.pick(BAD_SIZES) : this.#size(),
    };
  }
}

export class SourceStream {
  readonly #random: Random;
  readonly #others: LedgerStream;
  readonly #source: RandomSource;
  #isFunded = false;
  #key = 0;

  constructor(random: Random, shape: Partial<StreamShape> = {}) {
    this.#random = random;
    this.#others = new LedgerStream(random, shape);
    this.#source = new RandomSource(random);
  }

  next(): LedgerCommand {
    const random = this.#random;
    if (!this.#isFunded || random.chance(0.3)) return this.#deposit();
    if (random.chance(45)) return this.#source.next();
    const command = this.#others.next();
    if (command.kind === 'order') this.#source.sees(command);
    return command;
  }

  last(): LedgerCommand[] {
    return this.#others.last();
  }

  #deposit(): LedgerCommand {
    const random = this.#random;
    this.#key += 1;
    const isLittle = random.chance(25);
    const kind = this.#isFunded && random.chance(60) ? 'withdraw' : 'deposit';
    this.#isFunded = true;
    return {
      kind,
      id: { isOperator: true, ms: 5, key: 1_000_000 + this.#key },
      wallet: SOURCE,
      signer: 0,
      market: 0,
      amount: random.between(1, isLittle ? 30 : 500) * SHARE,
    };
  }
}
