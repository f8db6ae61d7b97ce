/**
 * The traders of the demo: one quotes every book around chances that wander (demo-chances.ts), the others take
 * from the books, so that a node shows trades, history and moving prices from its first minute on.
 *
 * Thread: the I/O thread, for some milliseconds of each round. They end where the catalog is not the demo's, and rest
 * while orders are refused. Prices and sizes are read as numbers and become whole ticks and shares: none is an amount
 * of the node.
 */
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fromMicro } from '../../client/decimal.ts';
import type { OrderTerms } from '../../client/orders.ts';
import { MICRO } from '../../engine/tables/units.ts';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import type { CatalogGeneration } from '../catalog/catalog-generation.ts';
import { keyOf, rowsNamed } from '../catalog/text-index.ts';
import type { Log } from '../common/logger.ts';
import { seededRandom } from '../common/seeded-random.ts';
import { type DemoBook, EventChances } from './demo-chances.ts';
import { DemoExchange, type DemoTrader } from './demo-trader.ts';

interface DemoTradersOptions {
  readonly url: URL;
  readonly markets: readonly CatalogMarket[];
  /** Secret that the private keys of the wallets are derived from. */
  readonly secret: Uint8Array;
  readonly catalog: () => Pick<CatalogGeneration, 'prepared'>;
  /** With a ledger: gives a wallet what it trades with. */
  readonly fund: (wallet: Uint8Array) => Promise<void>;
  readonly log: Log;
}

interface Level {
  readonly ticks: number;
  readonly shares: number;
}
interface Sides {
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}
interface LevelJson {
  readonly price: string;
  readonly size: string;
}
interface BookPlan {
  readonly book: DemoBook;
  /** Current chance, in ticks. */
  readonly middle: number;
  readonly cancels: readonly string[];
  readonly quotes: readonly DemoOrder[];
  /** Orders that take price levels which the chance has passed. */
  readonly sweeps: readonly DemoOrder[];
}
interface DemoOrder {
  readonly book: DemoBook;
  readonly isBuy: boolean;
  readonly ticks: number;
  /** Whole: on any of the grids they cost whole micro-units. */
  readonly shares: number;
  readonly type: 'GTC' | 'FAK';
}
interface Party {
  readonly maker: DemoTrader;
  readonly takers: readonly DemoTrader[];
  readonly exchange: DemoExchange;
}

const ROUND_MS = 7_000;
/**
 * One round of so many cancels and trades, the others only add orders. Closed orders and fills cost the projector some
 * twenty pages a commit, however few they are (`npm run bench -- demo-disk`).
 */
const ROUNDS_PER_MOVE = 3;
/** Pause after an error: the node is busy, paused, or out of room. */
const REST_MS = 5_000;
const SEED = 20_260_105;
const TAKERS = 4;
const LEVELS = 4;
const TAKES = 8;
/** Above 1: the first events of the catalog are traded more often. */
const PREFERENCE = 1.5;

export class DemoTraders {
  private readonly o: DemoTradersOptions;
  private readonly stopping = new AbortController();
  private readonly random = seededRandom(SEED);
  private readonly events: readonly EventChances[];
  /** The maker's order at each price, by token and ticks: bids under their ticks, offers under the negative. */
  private readonly quotes = new Map<string, Map<number, string>>();
  /** Orders of the maker beside its quotes, until the next move. */
  private extras: string[] = [];
  /** `undefined` until all have joined. */
  private party: Party | undefined;
  private readonly ended: Promise<void>;

  /** Starts them at once. */
  constructor(options: DemoTradersOptions) {
    this.o = options;
    this.events = EventChances.all(options.markets);
    this.ended = this.run();
  }

  /** Gives up what is under way. Quotes stay until the next start renews them. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.ended;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    let logged = '';
    for (let round = 0; !signal.aborted; ) {
      let waitMs = ROUND_MS;
      try {
        if (!this.isDemo()) return await this.leave();
        this.party ??= await this.begin();
        if (round % ROUNDS_PER_MOVE === 0) await this.move(this.party);
        else await this.deepen(this.party);
        round += 1;
        logged = '';
      } catch (error) {
        if (signal.aborted) return;
        waitMs = REST_MS;
        const { message } = error as Error;
        if (message !== logged) this.o.log('debug', `demo traders rest: ${message}`);
        logged = message;
      }
      await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }

  private async begin(): Promise<Party> {
    const exchange = await DemoExchange.connect(this.o.url, this.stopping.signal);
    const traders: DemoTrader[] = [];
    for (let i = 0; i <= TAKERS; i++) {
      const key = createHmac('sha256', this.o.secret).update(`demo trader ${i}`).digest('hex');
      const trader = await exchange.join(`0x${key}`);
      await this.o.fund(addressBytes(trader.address));
      traders.push(trader);
    }
    const [maker, ...takers] = traders as [DemoTrader, ...DemoTrader[]];
    // Orders of an earlier run.
    await maker.cancelAll();
    const sides = await read(exchange, this.books());
    let at = 0;
    for (const event of this.events) {
      event.follow(
        event.books.map(({ market }) => {
          const { asks, bids } = sides[at++]!;
          const grid = market.ticksPerUnit;
          return ((bids[0]?.ticks ?? 0) + (asks[0]?.ticks ?? grid)) / 2 / grid;
        }),
      );
    }
    this.o.log('debug', 'demo traders trade the demo markets (DEMO_TRADERS=off: none)');
    return { exchange, maker, takers };
  }

  private books(): DemoBook[] {
    return this.events.flatMap(({ books }) => books);
  }

  private async leave(): Promise<void> {
    await this.party?.maker.cancelAll().catch(() => undefined);
    const level = this.party === undefined ? 'debug' : 'info';
    this.o.log(level, 'no demo traders: the catalog is not the demo');
    this.stopping.abort();
  }

  private isDemo(): boolean {
    const { keys, ids } = this.o.catalog().prepared.markets;
    const { markets } = this.o;
    const isThere = ({ conditionId }: CatalogMarket): boolean =>
      rowsNamed(keys.conditionId!, keyOf('condition', conditionId)).length > 0;
    return ids.length === markets.length && markets.every(isThere);
  }

  /** The chances of all events take a step, the quotes follow, and some orders take from the books. */
  private async move({ exchange, maker, takers }: Party): Promise<void> {
    const { events, random } = this;
    for (const event of events) event.step(random);
    const chances = events.flatMap((event) => event.chances());
    const sides = await read(exchange, this.books());
    const plans = this.books().map((book, i) => this.plan(book, chances[i]!, sides[i]!));
    const takes = Array.from({ length: TAKES }, () => this.take(plans));
    const taken = [...plans.flatMap(({ sweeps }) => sweeps), ...takes];
    const taker = takers[Math.floor(random() * TAKERS)]!;
    const quotes = plans.flatMap((plan) => plan.quotes);
    const cancels = [...this.extras.splice(0), ...plans.flatMap((plan) => plan.cancels)];
    // Side by side, so that they share a write of the log and a commit of the projector. A quote that comes before the
    // cancel of one that it crosses is refused, and placed by the next move.
    const [, ids] = await Promise.all([
      maker.cancel(cancels),
      maker.post(quotes.map(termsOf)),
      taker.post(taken.map(termsOf)),
    ]);
    for (const [i, { book, isBuy, ticks }] of quotes.entries()) {
      if (ids[i] !== '') this.quotesOf(book).set(isBuy ? ticks : -ticks, ids[i]!);
    }
  }

  private async deepen({ maker }: Party): Promise<void> {
    const { random } = this;
    const orders = this.books().flatMap((book): DemoOrder[] => {
      const prices = [...this.quotesOf(book).keys()];
      const price = prices[Math.floor(random() * prices.length)];
      if (price === undefined) return [];
      const shares = Math.ceil(book.market.minSizeMicro / MICRO) + Math.floor(random() * 12);
      return [{ book, isBuy: price > 0, ticks: Math.abs(price), shares, type: 'GTC' }];
    });
    const ids = await maker.post(orders.map(termsOf));
    this.extras.push(...ids.filter((id) => id !== ''));
  }

  /** Plans the quotes of a book. Forgets the quotes that it names for cancelling. */
  private plan(book: DemoBook, chance: number, { asks, bids }: Sides): BookPlan {
    const grid = book.market.ticksPerUnit;
    const step = stepOf(book);
    const middle = Math.round((chance * grid) / step) * step;
    const wanted = new Map<number, number>();
    for (let level = 1; level <= LEVELS; level++) {
      const shares = 12 * level + Math.floor(this.random() * 12);
      if (middle - level * step > 0) wanted.set(middle - level * step, shares);
      if (middle + level * step < grid) wanted.set(-(middle + level * step), shares);
    }
    const prices = [...wanted.keys()];
    const isThin = (ticks: number): boolean => {
      const found = (ticks > 0 ? bids : asks).find((level) => level.ticks === Math.abs(ticks));
      return (found?.shares ?? 0) < wanted.get(ticks)! / 2;
    };
    const missing = prices.filter(isThin);
    const own = this.quotesOf(book);
    const gone = new Set(
      [...own.keys()].filter((ticks) => !wanted.has(ticks) || missing.includes(ticks)),
    );
    const cancels = [...gone].map((ticks) => own.get(ticks)!);
    for (const ticks of gone) own.delete(ticks);
    const quotes = missing.map((ticks): DemoOrder => {
      const shares = wanted.get(ticks)!;
      return { book, isBuy: ticks > 0, ticks: Math.abs(ticks), shares, type: 'GTC' };
    });
    const passedBids = bids.filter(({ ticks }) => ticks >= middle && !gone.has(ticks));
    const passedAsks = asks.filter(({ ticks }) => ticks <= middle && !gone.has(-ticks));
    const sweeps = [...crossing(book, false, passedBids), ...crossing(book, true, passedAsks)];
    return { book, middle, cancels, quotes, sweeps };
  }

  /** An order that trades at the best price, of a pair as often in one outcome's name as in the other's. */
  private take(plans: readonly BookPlan[]): DemoOrder {
    const { events, random } = this;
    const event = events[Math.floor(events.length * random() ** PREFERENCE)]!;
    const chosen = event.books[Math.floor(random() * event.books.length)]!;
    const { book, middle } = plans.find((plan) => plan.book === chosen)!;
    const { market, outcome } = book;
    const grid = market.ticksPerUnit;
    const isBuy = random() < 0.5;
    const away = (isBuy ? 2 : -2) * stepOf(book);
    const ticks = Math.min(grid - 1, Math.max(1, middle + away));
    // Often more than the best price level has: who quotes beside the maker is filled too.
    const shares = 10 + Math.floor(random() * 50);
    const type = 'FAK' as const;
    if (market.tokenIds.length > 2 || random() < 0.5) return { book, shares, type, isBuy, ticks };
    const other = { market, outcome: 1 - outcome };
    return { book: other, shares, type, isBuy: !isBuy, ticks: grid - ticks };
  }

  private quotesOf({ market, outcome }: DemoBook): Map<number, string> {
    const token = market.tokenIds[outcome]!;
    let quotes = this.quotes.get(token);
    if (quotes === undefined) {
      quotes = new Map();
      this.quotes.set(token, quotes);
    }
    return quotes;
  }
}

/** Reads the books of all tokens, best price levels first. */
async function read(exchange: DemoExchange, books: readonly DemoBook[]): Promise<Sides[]> {
  const tokens = books.map(({ market, outcome }) => market.tokenIds[outcome]!);
  const found = await exchange.marketData.books(tokens);
  return found.map(({ asks, bids }, i) => {
    const grid = books[i]!.market.ticksPerUnit;
    const levelOf = ({ price, size }: LevelJson): Level => ({
      ticks: Math.round(Number(price) * grid),
      shares: Number(size),
    });
    return { bids: bids.map(levelOf).reverse(), asks: asks.map(levelOf).reverse() };
  });
}

/** Returns the half of a hundredth in ticks, or one tick where that is more. */
function stepOf({ market }: DemoBook): number {
  return Math.max(1, Math.floor(market.ticksPerUnit / 200));
}

function crossing(book: DemoBook, isBuy: boolean, levels: readonly Level[]): DemoOrder[] {
  if (levels.length === 0) return [];
  const least = Math.ceil(book.market.minSizeMicro / MICRO);
  const shares = Math.max(least, Math.ceil(levels.reduce((sum, level) => sum + level.shares, 0)));
  return [{ book, isBuy, ticks: levels.at(-1)!.ticks, shares, type: 'FAK' }];
}

function termsOf({ book, isBuy, shares, ticks, type }: DemoOrder): OrderTerms {
  const { market, outcome } = book;
  return {
    tokenId: market.tokenIds[outcome]!,
    side: isBuy ? 'BUY' : 'SELL',
    price: fromMicro(BigInt((ticks * MICRO) / market.ticksPerUnit)),
    size: String(shares),
    type,
    postOnly: type === 'GTC',
  };
}

function addressBytes(text: string): Uint8Array {
  return Buffer.from(text.slice(2), 'hex');
}
