/**
 * Maker of the house in one market: keeps its resting orders as the ladder says (ladder.ts), with signed orders of the
 * ordinary path. Each step reads market, account and open orders, and sends what differs, until nothing does. Rules:
 * docs/protocol.md#liquidity-of-the-house
 *
 * Thread: I/O, while workers write. Not here: deposits and withdrawals (liquidity.ts).
 */
import { createHash, createHmac } from 'node:crypto';
import { type SignedOrder, type SigningDomain, signOrder } from '../../client/exchange.ts';
import { Wallet } from '../../client/wallet.ts';
import type { Side } from '../../engine/book/matching.ts';
import {
  cashReserved,
  cashTotal,
  positionsOf,
  positionToken,
  sharesReserved,
  sharesTotal,
} from '../../engine/ledger/reads.ts';
import { findAccount, newestOwned, nextOwned } from '../../engine/orders/accounts.ts';
import { crosses } from '../../engine/orders/match.ts';
import {
  bookTicks,
  conditionAt,
  isMirroredToken,
  isSellOrder,
  marketFeeBps,
  marketFirstBook,
  marketFirstToken,
  marketFlags,
  marketMinSize,
  orderIdAt,
  orderPrice,
  orderRemaining,
  orderToken,
  tokenIdAt,
} from '../../engine/reads.ts';
import { ADDRESS_WORDS, ID_WORDS, MarketFlag } from '../../engine/tables/codes.ts';
import { bookVersion } from '../../engine/tables/depth.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { MarketRow, Ticks, TokenRow } from '../../engine/tables/units.ts';
import type { LiquidityTerms } from '../../storage/control-records/control-records.ts';
import { bytesToWords, wordsToDecimal, wordsToHex } from '../common/uint256.ts';
import { submitCancels } from '../orders/cancel/cancels.ts';
import type { SequenceLockReader } from '../orders/exchange-memory/sequence-lock-reader.ts';
import { type Answered, orderRequest } from '../orders/exchange-memory/slot-requests.ts';
import { RequestKind } from '../orders/exchange-memory/slots.ts';
import type { OrderIntake } from '../orders/intake/order-intake.ts';
import { chanceOf, ladderOf, type Pair, type Quote } from './ladder.ts';

export interface MakerParts {
  readonly tables: Tables;
  readonly sequenceLock: SequenceLockReader;
  readonly intake: Pick<OrderIntake, 'submit'>;
  readonly signing: SigningDomain;
  /** Key of the node, from which the key of each account is derived. */
  readonly secret: Uint8Array;
  readonly levels: number;
  readonly maxBatchOrders: number;
  /** Turns complete sets of a wallet into cash; false: nothing has changed. */
  readonly merge: (wallet: Int32Array, market: MarketRow, sets: number) => Promise<boolean>;
  readonly count: (result: 'placed' | 'refused') => void;
}

interface OwnOrder extends Quote {
  readonly id: string;
}

/** Sums of the account in whole micro-units and micro-shares. */
export interface HouseAccount {
  readonly cash: number;
  readonly cashReserved: number;
  readonly shares: Pair;
  readonly sharesReserved: Pair;
}

interface HouseState {
  readonly flags: number;
  readonly grid: number;
  readonly minSize: number;
  readonly feeBps: number;
  /** Best levels of the book, bids and asks. */
  readonly best: readonly [number, number];
  readonly account: HouseAccount;
  readonly orders: readonly OwnOrder[];
}

const NO_KEY = new Uint8Array(16);
const NO_KEY_TEXT = '00000000-0000-0000-0000-000000000000';
/** Bound of a walk over memory that may change meanwhile; more than an account may have. */
const ORDERS_MAX = 4_096;
/** Steps in a row; what still differs waits for the next change of the market. */
const STEPS_MAX = 8;
const SALT_BITS = 52n;

/** Condition id of a market, as terms have it. */
export function conditionOf({ marketI }: Pick<Tables, 'marketI'>, market: MarketRow): string {
  return wordsToHex(marketI, conditionAt(market), ID_WORDS);
}

export class HouseMaker {
  readonly market: MarketRow;
  /** 0x + 64 lower-case hex digits. */
  readonly condition: string;
  readonly address: Uint8Array;
  private readonly wallet: Wallet;
  private readonly parts: MakerParts;
  private readonly terms: () => LiquidityTerms;
  /** Facts of the last steps; undefined: they failed, or there were none. */
  private settled: readonly unknown[] | undefined;
  private tail: Promise<unknown> = Promise.resolve();
  private isQueued = false;
  private isStopped = true;
  /** Sums for which orders have been answered, and their ids. */
  private step = '';
  private readonly answered = new Set<string>();
  private attempt = 0;

  constructor(parts: MakerParts, market: MarketRow, terms: () => LiquidityTerms) {
    this.parts = parts;
    this.market = market;
    this.terms = terms;
    this.condition = conditionOf(parts.tables, market);
    const mac = createHmac('sha256', parts.secret).update(`liquidity|${this.condition}`);
    this.wallet = new Wallet(`0x${mac.digest('hex')}`);
    this.address = Buffer.from(this.wallet.address.slice(2), 'hex');
  }

  start(): void {
    this.isStopped = false;
    this.settled = undefined;
  }

  /** Resolves once nothing is under way; orders stay. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.tail;
  }

  /** Begins steps where market, book or terms have changed since the last ones. */
  check(): void {
    if (this.isStopped || this.isQueued) return;
    const { settled } = this;
    const now = this.facts();
    if (settled !== undefined && now.every((fact, i) => fact === settled[i])) return;
    this.isQueued = true;
    void this.alone(async () => {
      this.isQueued = false;
      this.settled = await this.run();
    });
  }

  /** Runs `use` while no step is under way. */
  alone<T>(use: () => Promise<T>): Promise<T> {
    const done = this.tail.then(use);
    this.tail = done.catch(() => undefined);
    return done;
  }

  readAccount(): Promise<HouseAccount> {
    return this.parts.sequenceLock.read(() => this.account());
  }

  /** Reads without a version: for lists. */
  openOrders(): number {
    return this.orders().length;
  }

  /** Cancels its orders, and makes its complete sets cash. Resolves with its account; undefined: something failed. */
  async withdrawQuotes(): Promise<HouseAccount | undefined> {
    const { orders } = await this.parts.sequenceLock.read(() => this.state());
    if (!(await this.cancel(orders))) return undefined;
    const account = await this.readAccount();
    const sets = Math.min(...account.shares.map((total, i) => total - account.sharesReserved[i]!));
    if (sets <= 0) return account;
    const isMerged = await this.merge(sets);
    return isMerged ? this.readAccount() : undefined;
  }

  walletWords(): Int32Array {
    return bytesToWords(this.address, new Int32Array(ADDRESS_WORDS));
  }

  private facts(): readonly unknown[] {
    const { tables } = this.parts;
    const { market } = this;
    return [
      bookVersion(tables, marketFirstToken(tables, market)),
      bookTicks(tables, marketFirstBook(tables, market)),
      marketFlags(tables, market),
      marketMinSize(tables, market),
      this.terms(),
    ];
  }

  /** Resolves with the facts that the orders are right for; undefined after a failure. */
  private async run(): Promise<readonly unknown[] | undefined> {
    let facts: readonly unknown[] | undefined;
    for (let steps = 0; steps < STEPS_MAX && !this.isStopped; steps++) {
      facts = this.facts();
      const result = await this.oneStep().catch(() => 'failed' as const);
      if (result === 'failed') return undefined;
      if (result === 'nothing') break;
    }
    return facts;
  }

  private async oneStep(): Promise<'sent' | 'nothing' | 'failed'> {
    const state = await this.parts.sequenceLock.read(() => this.state());
    const { account, flags, orders } = state;
    // Open orders of a halted market stay: nobody can take them.
    if ((flags & MarketFlag.tradable) === 0) return 'nothing';
    const sets = Math.min(...account.shares);
    const quotes = this.quotesFor(state, sets);
    const unwanted = orders.filter((order) => !quotes.some((quote) => isSame(order, quote)));
    const missing = quotes.filter((quote) => !orders.some((order) => isSame(order, quote)));
    const placeable = missing.filter((quote) => !this.isCrossing(quote, state));
    if (unwanted.length === 0 && sets === 0 && placeable.length === 0) return 'nothing';
    if (!(await this.cancel(unwanted))) return 'failed';
    if (sets > 0 && !(await this.merge(sets))) return 'failed';
    return (await this.post(placeable, state)) ? 'sent' : 'failed';
  }

  /** @param sets complete sets, which become cash before orders are placed */
  private quotesFor({ account, grid, minSize, orders }: HouseState, sets: number): Quote[] {
    const own = { cash: 0, shares: [0, 0] as [number, number] };
    for (const { outcome, side, size, ticks } of orders) {
      if (side === 'BUY') own.cash += Math.floor((size / grid) * ticks);
      else own.shares[outcome] += size;
    }
    const cash = account.cash - account.cashReserved + own.cash + sets;
    const shares = account.shares.map((total) => total - sets) as [number, number];
    const held = { cash, shares };
    const terms = { ticksPerUnit: grid, minSize };
    const rule = this.terms();
    const resting = (place: Omit<Quote, 'size'>): number =>
      orders.find((order) => isSamePlace(order, place))?.size ?? 0;
    return ladderOf(rule, terms, held, this.parts.levels, resting);
  }

  private isCrossing({ outcome, side, ticks }: Quote, { best, grid }: HouseState): boolean {
    const { tables } = this.parts;
    const token = (marketFirstToken(tables, this.market) + outcome) as TokenRow;
    const isMirrored = isMirroredToken(tables, token);
    const isAsk = (side === 'SELL') !== isMirrored;
    const limit = (isMirrored ? grid - ticks : ticks) as Ticks;
    return crosses((isAsk ? 1 : 0) as Side, best[isAsk ? 0 : 1], limit);
  }

  /** Resolves with false where the node takes nothing now. Refused orders wait for a change of the market. */
  private async post(quotes: readonly Quote[], state: HouseState): Promise<boolean> {
    const { intake, maxBatchOrders } = this.parts;
    for (let from = 0; from < quotes.length; from += maxBatchOrders) {
      const orders = quotes
        .slice(from, from + maxBatchOrders)
        .map((each) => this.sign(each, state));
      const body = Buffer.from(`[${orders.map(({ item }) => item).join(',')}]`);
      const results = await answerOf<{ readonly success: boolean }[]>((answered) =>
        intake.submit(orderRequest(RequestKind.orders, this.owner(), body, answered)),
      );
      if (results === undefined) return false;
      for (const { id } of orders) this.answered.add(id);
      for (const { success } of results) this.parts.count(success ? 'placed' : 'refused');
    }
    return true;
  }

  /**
   * Signs the order of a quote. Its salt follows from market, sums and terms, so a node that starts again signs the same
   * order, and the engine refuses a second one. An order that has been answered and does not rest gets another attempt.
   */
  private sign(quote: Quote, { account, feeBps, flags, grid }: HouseState): SignedOrder {
    const { tables } = this.parts;
    const { cash, shares } = account;
    const { paidIn, paidOut } = this.terms();
    const step = [cash, ...shares, paidIn, paidOut].join('|');
    if (step !== this.step) {
      this.step = step;
      this.answered.clear();
      this.attempt = 0;
    }
    const { outcome, side, size, ticks } = quote;
    const collateral = (BigInt(size) * BigInt(ticks)) / BigInt(grid);
    const token = (marketFirstToken(tables, this.market) + outcome) as TokenRow;
    for (;;) {
      const order = signOrder(this.wallet, this.parts.signing, {
        tokenId: wordsToDecimal(tables.tokenI, tokenIdAt(token)),
        conditionId: this.condition,
        negRisk: (flags & MarketFlag.negRisk) !== 0,
        side,
        makerAmount: side === 'BUY' ? collateral : size,
        takerAmount: side === 'BUY' ? size : collateral,
        type: 'GTC',
        salt: saltOf(`${this.condition}|${step}|${this.attempt}`),
        owner: NO_KEY_TEXT,
        feeRateBps: feeBps,
        postOnly: true,
        timestampMs: 0,
      });
      if (!this.answered.has(order.id)) return order;
      this.attempt += 1;
    }
  }

  private async cancel(orders: readonly OwnOrder[]): Promise<boolean> {
    if (orders.length === 0) return true;
    const body = Buffer.from(JSON.stringify(orders.map(({ id }) => id)));
    const answer = await answerOf<object>((answered) =>
      submitCancels(this.parts.intake, RequestKind.cancelOrders, this.owner(), body, answered),
    );
    return answer !== undefined;
  }

  private merge(sets: number): Promise<boolean> {
    return this.parts.merge(this.walletWords(), this.market, sets);
  }

  private owner() {
    return { address: this.address, apiKeyBytes: NO_KEY };
  }

  private state(): HouseState {
    const { tables } = this.parts;
    const { market } = this;
    const book = marketFirstBook(tables, market);
    return {
      flags: marketFlags(tables, market),
      grid: bookTicks(tables, book),
      minSize: marketMinSize(tables, market),
      feeBps: marketFeeBps(tables, market),
      best: [tables.matching.best(book, 0 as Side), tables.matching.best(book, 1 as Side)],
      account: this.account(),
      orders: this.orders(),
    };
  }

  private account(): HouseAccount {
    const { tables } = this.parts;
    const row = findAccount(tables, this.walletWords(), 0);
    const shares: [number, number] = [0, 0];
    const reserved: [number, number] = [0, 0];
    for (const position of positionsOf(tables, row)) {
      const outcome = positionToken(tables, position) - marketFirstToken(tables, this.market);
      if (outcome !== 0 && outcome !== 1) continue;
      shares[outcome] = sharesTotal(tables, position);
      reserved[outcome] = sharesReserved(tables, position);
    }
    return {
      cash: cashTotal(tables, row),
      cashReserved: cashReserved(tables, row),
      shares,
      sharesReserved: reserved,
    };
  }

  private orders(): OwnOrder[] {
    const { tables } = this.parts;
    const found: OwnOrder[] = [];
    const account = findAccount(tables, this.walletWords(), 0);
    const grid = bookTicks(tables, marketFirstBook(tables, this.market));
    let row = account === 0 ? 0 : newestOwned(tables, account);
    for (; row !== 0 && found.length < ORDERS_MAX; row = nextOwned(tables, row)) {
      const token = orderToken(tables, row);
      const ticks = orderPrice(tables, row);
      found.push({
        id: wordsToHex(tables.orderI, orderIdAt(row), ID_WORDS),
        outcome: (token - marketFirstToken(tables, this.market)) as 0 | 1,
        side: isSellOrder(tables, row) ? 'SELL' : 'BUY',
        ticks: isMirroredToken(tables, token) ? grid - ticks : ticks,
        size: orderRemaining(tables, row),
      });
    }
    return found;
  }

  /** Price of the first outcome by the rule; undefined where it quotes nothing. */
  chance({ shares }: HouseAccount): number | undefined {
    const rule = this.terms();
    return rule.depth === 0 ? undefined : chanceOf(rule, shares);
  }
}

function isSamePlace(a: Omit<Quote, 'size'>, b: Omit<Quote, 'size'>): boolean {
  return a.outcome === b.outcome && a.side === b.side && a.ticks === b.ticks;
}

function isSame(a: Quote, b: Quote): boolean {
  return isSamePlace(a, b) && a.size === b.size;
}

function saltOf(text: string): string {
  const digest = createHash('sha256').update(text).digest();
  return String(digest.readBigUInt64BE() >> (64n - SALT_BITS));
}

/** Resolves with the JSON of a 200; undefined for another status. */
function answerOf<T>(submit: (answered: Answered) => void): Promise<T | undefined> {
  return new Promise((resolve) =>
    submit((status, body) => {
      if (status !== 200) return resolve(undefined);
      resolve(JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString()) as T);
    }),
  );
}
