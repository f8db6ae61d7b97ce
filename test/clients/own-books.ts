/**
 * Books of a client of its own: cash, holdings, fees, rebates and volume of wallets from the fills that it meant to
 * make, by the published rules and whole micro-units. Nothing is read from a node.
 */
import assert from 'node:assert/strict';
import type { Side } from './own-signing.ts';

/** Micro-units in a unit of collateral and in a share. */
export const UNIT = 1_000_000n;
/** Fees are multiples of 0.00001. */
const FEE_STEP = 10n;

export interface Schedule {
  /** Millionths. */
  readonly rate: bigint;
  readonly exponent: number;
  /** Millionths of a fee. */
  readonly rebate: bigint;
}

export interface BookedMarket {
  readonly condition: string;
  readonly tokens: readonly [string, string];
  readonly schedule: Schedule | undefined;
}

export interface Fill {
  readonly market: BookedMarket;
  readonly maker: string;
  readonly taker: string;
  readonly makerToken: string;
  readonly makerSide: Side;
  readonly takerToken: string;
  readonly takerSide: Side;
  /** Micro-shares. */
  readonly size: bigint;
  /** Millionths, of the maker's token. */
  readonly price: bigint;
}

/** A movement of one wallet. */
export interface Entry {
  readonly cause: 'DEPOSIT' | 'TRADE' | 'REDEEM' | 'REBATE';
  readonly token: string;
  readonly cash: bigint;
  readonly shares: bigint;
}

export interface Holding {
  shares: bigint;
  /** Paid for the shares that are held: without fees, and the fees. */
  cost: bigint;
  fees: bigint;
  bought: bigint;
  realized: bigint;
}

export interface Account {
  cash: bigint;
  readonly holdings: Map<string, Holding>;
  readonly entries: Entry[];
  /** Sums of both sides: shares, collateral without fees, fills. */
  volume: bigint;
  volumeUsdc: bigint;
  trades: number;
  takerFees: bigint;
  /** Rebates by condition. */
  readonly owed: Map<string, bigint>;
}

/** shares x rate x (p(1 - p))^exponent, less than a step counts nothing. @param price millionths */
export function feeOf({ exponent, rate }: Schedule, size: bigint, price: bigint): bigint {
  let [above, below] = [size * rate, UNIT];
  for (let i = 0; i < exponent; i += 1) {
    above *= price * (UNIT - price);
    below *= UNIT * UNIT;
  }
  return (above / (below * FEE_STEP)) * FEE_STEP;
}

export class Books {
  readonly accounts = new Map<string, Account>();
  /** Sum of all takers, in all markets. */
  fees = 0n;
  readonly takerVolume = new Map<string, bigint>();
  /** Millionths, of the newest fill of a token; a mint or a merge is one of both tokens. */
  readonly lastPrices = new Map<string, bigint>();
  /** Complete sets by condition. */
  readonly sets = new Map<string, bigint>();

  of(wallet: string): Account {
    const key = wallet.toLowerCase();
    const known = this.accounts.get(key);
    if (known !== undefined) return known;
    const made: Account = {
      cash: 0n,
      holdings: new Map(),
      entries: [],
      volume: 0n,
      volumeUsdc: 0n,
      trades: 0,
      takerFees: 0n,
      owed: new Map(),
    };
    this.accounts.set(key, made);
    return made;
  }

  holding(wallet: string, token: string): Holding {
    const { holdings } = this.of(wallet);
    const known = holdings.get(token);
    if (known !== undefined) return known;
    const made = { shares: 0n, cost: 0n, fees: 0n, bought: 0n, realized: 0n };
    holdings.set(token, made);
    return made;
  }

  deposit(wallet: string, cash: bigint): void {
    this.move(wallet, { cause: 'DEPOSIT', token: '', cash, shares: 0n });
  }

  /** Books a fill on both sides. The taker of a mint or a merge has the rest of a unit. */
  fill(fill: Fill): void {
    const { maker, makerSide, makerToken, market, price, size, taker, takerSide, takerToken } =
      fill;
    const leg = (size * price) / UNIT;
    const isSame = makerToken === takerToken;
    assert(isSame ? makerSide !== takerSide : makerSide === takerSide);
    const takerLeg = isSame ? leg : size - leg;
    const { schedule } = market;
    const fee = schedule === undefined ? 0n : feeOf(schedule, size, price);
    this.trade(maker, makerToken, makerSide, size, leg, 0n);
    this.trade(taker, takerToken, takerSide, size, takerLeg, fee);
    this.fees += fee;
    this.of(taker).takerFees += fee;
    const { condition } = market;
    this.takerVolume.set(condition, (this.takerVolume.get(condition) ?? 0n) + size);
    this.lastPrices.set(takerToken, isSame ? price : UNIT - price);
    this.lastPrices.set(makerToken, price);
    if (!isSame) {
      const change = makerSide === 'BUY' ? size : -size;
      this.sets.set(condition, (this.sets.get(condition) ?? 0n) + change);
    }
    if (schedule === undefined) return;
    const { owed } = this.of(maker);
    owed.set(condition, (owed.get(condition) ?? 0n) + (fee * schedule.rebate) / UNIT);
  }

  /** @param pays micro-units for a share of each outcome */
  redeem({ tokens }: BookedMarket, pays: readonly [bigint, bigint]): void {
    for (const wallet of this.accounts.keys()) {
      tokens.forEach((token, i) => {
        const held = this.of(wallet).holdings.get(token);
        if (held === undefined || held.shares === 0n) return;
        const { cost, fees, shares } = held;
        const cash = (shares * pays[i]!) / UNIT;
        this.move(wallet, { cause: 'REDEEM', token, cash, shares: -shares });
        held.realized += cash - cost - fees;
        Object.assign(held, { shares: 0n, cost: 0n, fees: 0n });
      });
    }
  }

  profit(wallet: string): bigint {
    let sum = 0n;
    for (const { realized } of this.of(wallet).holdings.values()) sum += realized;
    return sum;
  }

  private trade(
    wallet: string,
    token: string,
    side: Side,
    size: bigint,
    leg: bigint,
    fee: bigint,
  ): void {
    const account = this.of(wallet);
    const held = this.holding(wallet, token);
    account.volume += size;
    account.volumeUsdc += leg;
    account.trades += 1;
    if (side === 'BUY') {
      this.move(wallet, { cause: 'TRADE', token, cash: -leg - fee, shares: size });
      held.shares += size;
      held.bought += size;
      held.cost += leg;
      held.fees += fee;
      return;
    }
    this.move(wallet, { cause: 'TRADE', token, cash: leg - fee, shares: -size });
    assert(held.shares >= size, 'sells what it has');
    const [cost, fees] = [held.cost, held.fees].map((paid) => (paid * size) / held.shares);
    held.realized += leg - fee - cost! - fees!;
    held.shares -= size;
    held.cost -= cost!;
    held.fees -= fees!;
  }

  private move(wallet: string, entry: Entry): void {
    const account = this.of(wallet);
    account.entries.push(entry);
    account.cash += entry.cash;
    assert(account.cash >= 0n, 'spends what it has');
  }
}

/** Micro-units as the decimal text of the service, and of a JSON number. */
export function decimal(micros: bigint): string {
  const text = String(micros < 0n ? -micros : micros).padStart(7, '0');
  const fraction = text.slice(-6).replace(/0+$/, '');
  const sign = micros < 0n ? '-' : '';
  return `${sign}${text.slice(0, -6)}${fraction === '' ? '' : `.${fraction}`}`;
}
