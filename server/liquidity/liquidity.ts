/**
 * Liquidity of the house: a maker with an account of its own in each market that was given some, what is paid in to it
 * and out of it, and what it has cost. Makers quote where this node leads. Rules:
 * docs/protocol.md#liquidity-of-the-house
 *
 * Thread: I/O.
 */
import { encodeHouse } from '../../engine/commands.ts';
import { isHouse } from '../../engine/ledger/house.ts';
import { findAccount } from '../../engine/orders/accounts.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import type { LiquidityTerms } from '../../storage/control-records/control-records.ts';
import { Unavailable } from '../common/unavailable.ts';
import { marketByCondition } from '../market-data/find.ts';
import { failureAnswer } from '../orders/exchange-memory/slot-requests.ts';
import type { LedgerCommands, LedgerOutcome } from '../wallet/ledger-commands.ts';
import { operatorRequestId } from '../wallet/request-id.ts';
import { conditionOf, type HouseAccount, HouseMaker, type MakerParts } from './house-maker.ts';
import { type Pair, ruleOf } from './ladder.ts';

export interface LiquidityParts extends Omit<MakerParts, 'count' | 'merge'> {
  readonly ledger: Pick<LedgerCommands, 'doneBefore' | 'funds' | 'houseFunds' | 'run'>;
  /** Terms by condition id, as the log has them. */
  readonly terms: ReadonlyMap<string, LiquidityTerms>;
  /** Resolves once the terms are in the log and in force. */
  readonly put: (condition: string, terms: LiquidityTerms) => Promise<void>;
  readonly leads: () => boolean;
  /** Unix milliseconds. */
  readonly now: () => number;
}

export interface LiquidityRow {
  readonly condition: string;
  readonly market: MarketRow;
  /** 20 bytes. */
  readonly wallet: Uint8Array;
  readonly terms: LiquidityTerms;
  readonly account: HouseAccount;
  readonly chance: number | undefined;
  readonly orders: number;
}

export interface LiquidityFacts {
  readonly markets: number;
  readonly orders: readonly (readonly [result: string, count: number])[];
}

/** Result of a payment; `amount` is what it moved. */
export interface LiquidityPayment {
  readonly outcome: LedgerOutcome;
  readonly amount: number;
  readonly wallet: Uint8Array;
}

const NONE: LiquidityTerms = { depth: 0, centre: 0, paidIn: 0, paidOut: 0 };
const EVEN = 0.5;
/** Fills of this time share a step. */
const CHECK_MS = 20;
/** Also what changes no book, such as the resumption of a market, is noticed within it. */
const REPEAT_MS = 1_000;

export class Liquidity {
  private readonly parts: LiquidityParts;
  private readonly makers = new Map<string, HouseMaker>();
  private readonly counts = { placed: 0, refused: 0 };
  private timer: NodeJS.Timeout | undefined;
  private soon: NodeJS.Timeout | undefined;

  constructor(parts: LiquidityParts) {
    this.parts = parts;
  }

  /** Begins to quote, at the beginning of a lead. */
  begin(): void {
    for (const condition of this.parts.terms.keys()) this.makerOf(condition)?.start();
    this.timer = setInterval(() => this.check(), REPEAT_MS);
    this.check();
    this.mark().catch((error: unknown) => {
      // The end of the lead interrupts it, and the next one begins anew.
      if (!(error instanceof Unavailable)) throw error;
    });
  }

  /** Quotes stay as they are; resolves once nothing is under way. */
  async end(): Promise<void> {
    clearInterval(this.timer);
    clearTimeout(this.soon);
    this.timer = undefined;
    this.soon = undefined;
    await Promise.all([...this.makers.values()].map((maker) => maker.stop()));
  }

  /** A batch is durable. */
  committed(): void {
    if (this.timer === undefined || this.makers.size === 0) return;
    this.soon ??= setTimeout(() => this.check(), CHECK_MS);
  }

  /**
   * Pays in to the account of a market, which begins to quote, or quotes more.
   * @param chance price of the first outcome; absent: as it is, or a half
   */
  add(
    market: MarketRow,
    amount: number,
    chance: number | undefined,
    id: string,
  ): Promise<LiquidityPayment> {
    const maker = this.makerOfMarket(market);
    return maker.alone(async () => {
      const account = await maker.readAccount();
      const before = this.termsOf(maker);
      const worth = worthOf(account, amount);
      const from = chance ?? maker.chance(account) ?? EVEN;
      const rule = ruleOf(from, worth, account.shares);
      const terms = { ...before, ...rule, paidIn: before.paidIn + amount };
      const outcome = await this.pay('deposit', maker, amount, id, terms);
      if (this.timer !== undefined) maker.start();
      this.committed();
      return { outcome, amount, wallet: maker.address };
    });
  }

  /**
   * Cancels the quotes of a market and pays out of its account. It quotes with the rest, or nothing where all was wanted.
   * @param wanted absent: all that is free
   */
  remove(market: MarketRow, wanted: number | undefined, id: string): Promise<LiquidityPayment> {
    const maker = this.makerOfMarket(market);
    return maker.alone(async () => {
      const account = await maker.withdrawQuotes();
      if (account === undefined) {
        const [status, body] = failureAnswer('busy');
        const outcome = { kind: 'failed', status, body } as const;
        return { outcome, amount: 0, wallet: maker.address };
      }
      const before = this.termsOf(maker);
      const amount = wanted ?? account.cash - account.cashReserved;
      const from = maker.chance(account);
      const quotes = wanted !== undefined && from !== undefined;
      const worth = worthOf(account, -amount);
      const rule = quotes ? ruleOf(from, worth, account.shares) : { depth: 0 };
      const terms = { ...before, ...rule, paidOut: before.paidOut + amount };
      const outcome = await this.payOut(maker, amount, account, id, terms);
      this.committed();
      return { outcome, amount, wallet: maker.address };
    });
  }

  /** Removes the liquidity of each market whose account has cash. Resolves with the first payment that was not made. */
  async removeAll(): Promise<LedgerOutcome | undefined> {
    for (const { account, market } of await this.list()) {
      if (account.cash === 0) continue;
      const id = `${this.parts.now()}-all-${market}`;
      const { outcome } = await this.remove(market, undefined, id);
      if (outcome.kind !== 'done') return outcome;
    }
    return undefined;
  }

  has(market: MarketRow): boolean {
    return this.parts.terms.has(conditionOf(this.parts.tables, market));
  }

  /** Accounts that were ever paid in to. */
  async list(): Promise<LiquidityRow[]> {
    const rows: LiquidityRow[] = [];
    for (const condition of this.parts.terms.keys()) {
      const maker = this.makerOf(condition);
      if (maker !== undefined) rows.push(await this.rowOf(maker));
    }
    return rows;
  }

  /** Account of a market; undefined where it was never paid in to. */
  async find(market: MarketRow): Promise<LiquidityRow | undefined> {
    return this.has(market) ? this.rowOf(this.makerOfMarket(market)) : undefined;
  }

  facts(): LiquidityFacts {
    let markets = 0;
    for (const { depth } of this.parts.terms.values()) if (depth > 0) markets += 1;
    return { markets, orders: Object.entries(this.counts) };
  }

  /** Marks accounts that were paid in to before there was a mark. */
  private async mark(): Promise<void> {
    const { ledger, sequenceLock, tables } = this.parts;
    for (const condition of this.parts.terms.keys()) {
      const wallet = this.makerOf(condition)?.walletWords();
      if (wallet === undefined) continue;
      const isMarked = () => isHouse(tables, findAccount(tables, wallet, 0));
      if (await sequenceLock.read(isMarked)) continue;
      await ledger.run(
        (out) => encodeHouse(out, wallet),
        () => undefined,
      );
    }
  }

  private check(): void {
    this.soon = undefined;
    if (!this.parts.leads()) return;
    for (const maker of this.makers.values()) maker.check();
  }

  private termsOf({ condition }: HouseMaker): LiquidityTerms {
    return this.parts.terms.get(condition) ?? NONE;
  }

  private async rowOf(maker: HouseMaker): Promise<LiquidityRow> {
    const account = await maker.readAccount();
    return {
      condition: maker.condition,
      market: maker.market,
      wallet: maker.address,
      terms: this.termsOf(maker),
      account,
      chance: maker.chance(account),
      orders: maker.openOrders(),
    };
  }

  private makerOf(condition: string): HouseMaker | undefined {
    const known = this.makers.get(condition);
    if (known !== undefined) return known;
    const market = marketByCondition(this.parts.tables, condition);
    return market === 0 ? undefined : this.makerOfMarket(market);
  }

  private makerOfMarket(market: MarketRow): HouseMaker {
    const { ledger, now, tables } = this.parts;
    const condition = conditionOf(tables, market);
    const known = this.makers.get(condition);
    if (known !== undefined) return known;
    const merge: MakerParts['merge'] = async (wallet, of, amount) => {
      const id = operatorRequestId(`${now()}-sets-${of}`)!;
      const { kind } = await ledger.funds('merge', { id, wallet, market: of, amount });
      return kind === 'done';
    };
    const count: MakerParts['count'] = (result) => {
      this.counts[result] += 1;
    };
    const maker: HouseMaker = new HouseMaker({ ...this.parts, merge, count }, market, () =>
      this.termsOf(maker),
    );
    this.makers.set(condition, maker);
    return maker;
  }

  private async payOut(
    maker: HouseMaker,
    amount: number,
    { cash, cashReserved }: HouseAccount,
    id: string,
    terms: LiquidityTerms,
  ): Promise<LedgerOutcome> {
    if (amount === 0) {
      await this.parts.put(maker.condition, terms);
      return { kind: 'done', isRepeated: false, first: undefined };
    }
    // A payment that is refused may not change the terms either.
    if (amount <= cash - cashReserved) return this.pay('withdraw', maker, amount, id, terms);
    const fields = { id: operatorRequestId(id)!, wallet: maker.walletWords(), amount };
    return this.parts.ledger.funds('withdraw', fields);
  }

  /** Moves money and records the terms in one batch. */
  private async pay(
    kind: 'deposit' | 'withdraw',
    maker: HouseMaker,
    amount: number,
    id: string,
    terms: LiquidityTerms,
  ): Promise<LedgerOutcome> {
    const { ledger, put } = this.parts;
    const { condition } = maker;
    const fields = { id: operatorRequestId(id)!, wallet: maker.walletWords(), amount };
    const [first] = await ledger.doneBefore(kind, [fields]);
    // What is refused may not change the terms either.
    if (first !== undefined || amount < 1) return ledger.funds(kind, fields);
    const before = this.termsOf(maker);
    const outcome = await ledger.houseFunds(kind, fields, { about: 'liquidity', condition, terms });
    if (outcome.kind === 'refused' || (outcome.kind === 'done' && outcome.isRepeated))
      await put(condition, before);
    return outcome;
  }
}

function worthOf({ cash, shares }: HouseAccount, change: number): Pair {
  return [cash + change + shares[0], cash + change + shares[1]];
}
