/**
 * Random streams of commands of a small busy exchange: few accounts, so that self-trades happen;
 * prices around the middle, so that they cross; every fault and every odd size now and then. It
 * does not know the outcomes of its commands.
 */

import type { Random } from '../common/random.ts';
import {
  type Command,
  FAULTS,
  NO_LIMIT,
  type OrderLine,
  POLICIES,
  type SideName,
  type Terms,
  type TypeName,
} from './naive-types.ts';

const SHARE = 1_000_000n;
const AMOUNT_MAX = 2n ** 53n - 1n;
/** Markets that the tables of most tests hold. */
const MARKETS_MAX = 16;
const GRIDS = [10, 100, 200, 400, 1_000, 10_000] as const;

interface StreamMarket {
  terms: Terms;
  readonly number: number;
  /** Unix milliseconds; 0 = it does not end. */
  end: number;
  readonly firstToken: number;
  readonly outcomes: number;
}

interface Known {
  readonly id: number;
  readonly signer: number;
}

/** Shares of command kinds, percent; the rest are plain orders. */
export interface StreamShape {
  readonly accounts: number;
  readonly cancels: number;
  readonly sweeps: number;
  readonly changes: number;
  /** Changes of a market's end. */
  readonly ends: number;
  readonly policies: number;
  /** Fee schedules of a market. */
  readonly fees: number;
  /** Taker delays of a market, and orders with one of their own. */
  readonly delays: number;
  /** Orders whose fills are settled later, and early ends of their wait. */
  readonly settlements: number;
  readonly faults: number;
  readonly huge: number;
}

export const BUSY: StreamShape = {
  accounts: 7,
  cancels: 24,
  sweeps: 1,
  changes: 0.3,
  ends: 0,
  policies: 0.2,
  fees: 0.3,
  delays: 0,
  settlements: 0,
  faults: 4,
  huge: 0.3,
};

/**
 * Pairs on four grids, with and without fees; markets of three outcomes and of one outcome on the
 * other two grids.
 */
export const MARKETS: readonly (readonly [outcomes: number, terms: Partial<Terms>])[] = [
  [2, { grid: 100 }],
  [2, { grid: 1_000, baseFeeBps: 200 }],
  [2, { grid: 10_000, minSize: 5n * SHARE }],
  [3, { grid: 200, baseFeeBps: 35, negRisk: true }],
  [2, { grid: 10, baseFeeBps: 1_000 }],
  [1, { grid: 400 }],
];

export class Stream {
  readonly #random: Random;
  readonly #shape: StreamShape;
  readonly #markets: StreamMarket[] = [];
  readonly #recent: Known[] = [];
  readonly #queue: Command[] = [];
  #id = 0;
  #registered: number;
  readonly #marketsMax: number;
  #tokens: number;
  #time = 1_000_000;
  #untilNextBatch = 0;

  /** @param marketsMax of all, with those that follow ended ones */
  constructor(
    random: Random,
    shape: StreamShape = BUSY,
    markets = MARKETS,
    marketsMax = MARKETS_MAX,
  ) {
    this.#marketsMax = marketsMax;
    this.#random = random;
    this.#shape = shape;
    this.#queue.push({ kind: 'at', time: this.#time });
    let token = 1;
    markets.forEach(([outcomes, partial], i) => {
      const terms: Terms = {
        grid: 100,
        baseFeeBps: 0,
        minSize: 0n,
        tradable: true,
        ended: false,
        negRisk: false,
        ...partial,
      };
      this.#markets.push({ terms, number: i + 1, end: 0, firstToken: token, outcomes });
      token += outcomes;
      this.#queue.push({ kind: 'market', condition: i + 1, outcomes, ...terms });
    });
    this.#registered = markets.length;
    this.#tokens = token;
  }

  pass(ms: number): Command {
    this.#time += ms;
    this.#replaceEnded();
    return { kind: 'at', time: this.#time };
  }

  next(): Command {
    const queued = this.#queue.shift();
    if (queued !== undefined) return queued;
    const random = this.#random;
    if (this.#untilNextBatch-- <= 0) {
      this.#untilNextBatch = random.below(12);
      this.#time += random.chance(20) ? random.below(9_000) : random.below(40);
      this.#replaceEnded();
      return { kind: 'at', time: this.#time };
    }
    const { cancels, changes, delays, ends, fees, policies, settlements, sweeps } = this.#shape;
    if (random.chance(cancels)) return this.#cancel();
    if (random.chance(sweeps)) return this.#cancelAll();
    if (random.chance(changes)) return this.#change();
    if (random.chance(fees)) return this.#fees();
    if (delays > 0 && random.chance(delays)) return this.#delay();
    if (settlements > 0 && random.chance(settlements)) return this.#later();
    if (ends > 0 && random.chance(ends)) return this.#end();
    if (random.chance(policies)) return { kind: 'policy', policy: random.pick(POLICIES) };
    return this.#order();
  }

  /** A schedule, of usual rates mostly; now and then one that is refused, and often none. */
  #fees(): Command {
    const random = this.#random;
    const condition = random.chance(3) ? 99 : random.pick(this.#markets).number;
    const exponent = random.chance(3) ? random.pick([-1, 5]) : random.below(5);
    if (random.chance(30)) return { kind: 'fees', condition, rate: 0, exponent, rebate: 0 };
    const usual = exponent === 0 ? random.pick([1, 100, 2_500, 10_000, 100_000]) : 70_000;
    const rate = random.chance(5)
      ? random.pick([-1, 1_000_000, 1_000_001])
      : random.chance(50)
        ? usual
        : random.between(1, 1_000_000);
    const rebate = random.chance(3) ? 1_000_001 : random.pick([0, 200_000, 333_333, 1_000_000]);
    return { kind: 'fees', condition, rate, exponent, rebate };
  }

  #delay(): Command {
    const random = this.#random;
    if (random.chance(50)) return this.#order(undefined, random.between(1, 9));
    const condition = random.chance(3) ? 99 : random.pick(this.#markets).number;
    const usual = random.chance(40) ? 0 : random.between(1, 12);
    const seconds = random.chance(3) ? random.pick([-1, 3_601]) : usual;
    return { kind: 'delay', condition, seconds };
  }

  #later(): Command {
    const random = this.#random;
    const fault = random.below(3);
    if (random.chance(2)) return { kind: 'settle', fault: random.chance(20) ? -1 : fault };
    const order = this.#order(undefined, random.chance(10) ? random.between(1, 9) : 0);
    if (order.kind !== 'order') return order;
    const settlement = { ms: random.between(1, 40_000), fails: random.chance(50), fault };
    return { ...order, settlement };
  }

  #end(): Command {
    const random = this.#random;
    const market = random.pick(this.#markets);
    const isOver = market.end !== 0 && market.end <= this.#time;
    const end = random.chance(10)
      ? 0
      : this.#time + random.pick([-500, 0, 1, 1_000, 5_000, 20_000, 120_000]);
    if (!isOver) market.end = end;
    this.#replaceEnded();
    return { kind: 'change', market: market.number, ...market.terms, end };
  }

  /**
   * Adds a market after each one that has ended, as far as there is room; few commands go to it
   * then.
   */
  #replaceEnded(): void {
    const random = this.#random;
    for (const [i, ended] of this.#markets.entries()) {
      if (ended.end === 0 || ended.end > this.#time || this.#registered >= this.#marketsMax)
        continue;
      this.#registered += 1;
      const { outcomes, terms } = ended;
      const number = this.#registered;
      const end = random.chance(50) ? this.#time + random.between(1, 90_000) : 0;
      this.#markets[i] = { terms, number, end, firstToken: this.#tokens, outcomes };
      this.#tokens += outcomes;
      const line = { kind: 'market' as const, condition: number, outcomes, ...terms };
      this.#queue.push(end === 0 ? line : { ...line, end });
    }
  }

  #account(): number {
    return 1 + this.#random.below(this.#shape.accounts);
  }

  #cancel(): Command {
    const random = this.#random;
    const known = this.#recent.length === 0 ? { id: 1, signer: 1 } : random.pick(this.#recent);
    const signer = random.chance(5) ? this.#account() : known.signer;
    return { kind: 'cancel', id: random.chance(2) ? this.#id + 1 : known.id, signer };
  }

  #cancelAll(): Command {
    const random = this.#random;
    const { firstToken, outcomes } = random.pick(this.#markets);
    return {
      kind: 'cancel-all',
      signer: this.#account(),
      market: random.chance(50) ? random.between(1, this.#markets.length) : 0,
      token: random.chance(50) ? firstToken + random.below(outcomes) : 0,
      limit: random.chance(50) ? NO_LIMIT : 1 + random.below(8),
    };
  }

  /** Another tick, fee or minimum; a pause or an end is followed by a new opening before long. */
  #change(): Command {
    const random = this.#random;
    const number = random.below(this.#markets.length);
    const market = this.#markets[number];
    const row = market?.number ?? number + 1;
    if (market === undefined || random.chance(3)) {
      const terms = this.#markets[0]?.terms;
      if (terms !== undefined) return { kind: 'change', market: 99, ...terms };
    }
    const before = market?.terms ?? random.pick(this.#markets).terms;
    const isOpen = random.chance(75);
    const terms: Terms = {
      grid: random.chance(70) ? random.pick(GRIDS) : before.grid,
      baseFeeBps: random.chance(20) ? random.pick([0, 1, 200, 1_000]) : before.baseFeeBps,
      minSize: random.chance(20) ? random.pick([0n, 1n, SHARE, 5n * SHARE]) : before.minSize,
      tradable: isOpen,
      ended: !isOpen && random.chance(50),
      negRisk: random.chance(5) ? !before.negRisk : before.negRisk,
    };
    if (terms.negRisk === before.negRisk) {
      if (market !== undefined) market.terms = terms;
      if (!isOpen) {
        const opened = { ...terms, tradable: true, ended: false };
        if (market !== undefined) market.terms = opened;
        for (let i = random.below(5); i > 0; i--) this.#queue.push(this.#order(market));
        this.#queue.push({ kind: 'change', market: row, ...opened });
      }
    }
    return { kind: 'change', market: row, ...terms };
  }

  #order(market = this.#random.pick(this.#markets), delay = 0): Command {
    const random = this.#random;
    const side: SideName = random.chance(50) ? 'BUY' : 'SELL';
    const type = random.pick<TypeName>(['GTC', 'GTC', 'GTC', 'GTC', 'GTD', 'FOK', 'FOK', 'FAK']);
    const isImmediate = type === 'FOK' || type === 'FAK';
    const isFaulty = random.chance(this.#shape.faults);
    const { shares, collateral } = isImmediate
      ? this.#roundedAmounts(side, market.terms.grid)
      : this.#exactAmounts(market.terms.grid);
    const maker = this.#account();
    const isProxy = random.chance(10);
    const signer = isProxy ? this.#account() : maker;
    const line: OrderLine = {
      kind: 'order',
      id: ++this.#id,
      token: market.firstToken + random.below(market.outcomes),
      side,
      type,
      postOnly: random.chance(isImmediate ? 1 : 8),
      shares,
      collateral,
      expiration: type === 'GTD' ? this.#expiration() : 0,
      feeRateBps: 1_000,
      maker,
      signer,
      signatureType: isProxy ? 1 + random.below(2) : 0,
      faults: [],
      ...(isProxy && random.chance(30) ? { derived: true as const } : {}),
      ...(delay === 0 ? {} : { delay }),
    };
    const sent = isFaulty ? this.#spoil(line) : line;
    this.#recent.push({ id: sent.id, signer: sent.signer });
    if (this.#recent.length > 150) this.#recent.splice(random.below(150), 1);
    return sent;
  }

  #expiration(): number {
    const random = this.#random;
    if (random.chance(3)) return Number.MAX_SAFE_INTEGER;
    return Math.floor(this.#time / 1_000) + random.between(1, 60);
  }

  #ticks(grid: number): bigint {
    const random = this.#random;
    if (random.chance(3)) return BigInt(random.pick([1, grid - 1]));
    const spread = Math.min(random.chance(10) ? grid : 14, grid - 1);
    const ticks = Math.floor(grid / 2) - Math.floor(spread / 2) + random.below(spread);
    return BigInt(Math.min(Math.max(ticks, 1), grid - 1));
  }

  /** On the tick to the last micro-unit, like signed limit orders. */
  #exactAmounts(grid: number): { shares: bigint; collateral: bigint } {
    const random = this.#random;
    const g = BigInt(grid);
    let lots = BigInt(random.between(1, 60)) * (SHARE / g);
    if (random.chance(this.#shape.huge)) lots = AMOUNT_MAX / g - BigInt(random.below(3));
    else if (random.chance(15)) lots = BigInt(random.between(1, 5));
    else if (random.chance(30)) lots = BigInt(random.between(1, 6_000)) * (SHARE / 100n / g || 1n);
    return { shares: lots * g, collateral: lots * this.#ticks(grid) };
  }

  /**
   * Rounded like immediate orders of clients; sometimes odd to the last digit. Rules:
   * docs/protocol.md#client-rounding
   */
  #roundedAmounts(side: SideName, grid: number): { shares: bigint; collateral: bigint } {
    const random = this.#random;
    const ticks = this.#ticks(grid);
    const g = BigInt(grid);
    const step = { 10: 1_000n, 100: 100n, 200: 10n, 1000: 10n }[grid] ?? 1n;
    const round = (value: bigint): bigint => ((value + step / 2n) / step) * step;
    if (random.chance(12)) {
      const shares = this.#oddShares();
      const slack = BigInt(random.between(-2, 2));
      return { shares, collateral: (shares * ticks) / g + slack };
    }
    const cents = BigInt(random.between(1, 6_000)) * 10_000n;
    return side === 'BUY'
      ? { shares: round((cents * g) / ticks), collateral: cents }
      : { shares: cents, collateral: round((cents * ticks) / g) };
  }

  /** Around a share; sometimes a few micro-units, sometimes the largest amounts. */
  #oddShares(): bigint {
    const random = this.#random;
    if (random.chance(25)) return BigInt(random.between(1, 300));
    const isHuge = random.chance(5 * this.#shape.huge);
    return isHuge ? AMOUNT_MAX - BigInt(random.below(3)) : BigInt(random.between(1, 3_000_000));
  }

  /** Puts one fault into an order. */
  #spoil(line: OrderLine): OrderLine {
    const random = this.#random;
    switch (random.below(12)) {
      case 0:
        return { ...line, shares: -line.shares };
      case 1:
        return { ...line, collateral: 0n };
      case 2:
        return { ...line, shares: line.shares + AMOUNT_MAX, collateral: line.collateral };
      case 3: {
        const expiration = random.pick([0, 1, Math.floor(this.#time / 1_000)]);
        return { ...line, type: random.pick(['GTC', 'GTD', 'FAK']), postOnly: false, expiration };
      }
      case 4:
        return { ...line, feeRateBps: random.pick([-1, 0, 34, 199, 1_001]) };
      case 5:
        return { ...line, collateral: line.collateral + 1n };
      case 6:
        return { ...line, token: 90 };
      case 7:
      case 8:
        return this.#recent.length === 0 ? line : { ...line, id: random.pick(this.#recent).id };
      default:
        return { ...line, faults: [random.pick(FAULTS)] };
    }
  }
}
