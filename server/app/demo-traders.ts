/**
 * The traders of the demo: one quotes every book around chances that wander (demo-chances.ts), the others take
 * from the books, so that a node shows trades, history and moving prices from its first minute on.
 *
 * Thread: the I/O thread, for some milliseconds of each second. They end where the catalog is not the demo's,
 * and rest while orders are refused. Prices and sizes are read from answers as numbers and become whole ticks
 * and shares: nothing here is an amount of the node.
 */
import { createHmac } from 'node:crypto';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import type { Generation } from '../catalog/generation.ts';
import { keyOf, rowsNamed } from '../catalog/text-index.ts';
import type { Log } from '../common/logger.ts';
import { hostToReach } from '../http/address.ts';
import { type DemoBook, EventChances, seededRandom } from './demo-chances.ts';
import { ask, type DemoOrderTerms, DemoTrader, type DemoVenue } from './demo-trader.ts';

interface DemoTradersOptions extends Pick<DemoVenue, 'config' | 'separators' | 'port' | 'fund'> {
  readonly markets: readonly CatalogMarket[];
  /** The wallets' keys are made from it, so that nobody else has them. */
  readonly secret: Uint8Array;
  readonly catalog: () => Pick<Generation, 'prepared'>;
  readonly log: Log;
}

/** A level of a book: whole ticks, and shares. */
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

const TURN_MS = 1_000;
/** After an error: the node is busy, paused, or out of room. */
const REST_MS = 5_000;
const SEED = 20_260_105;
const TAKERS = 4;
const LEVELS = 4;
/** Part of the turns in which somebody trades. */
const TAKE_RATE = 0.8;
/** Above 1: the first events of the catalog get more turns. */
const PREFERENCE = 1.5;
/** Another address than that of clients on this machine, whose rate limits they leave alone. */
const OWN_ADDRESS = '127.0.0.2';
const CONNECTION = { keepAlive: true, maxSockets: 1 };

export class DemoTraders {
  private readonly o: DemoTradersOptions;
  private readonly stopping = new AbortController();
  private readonly random = seededRandom(SEED);
  private readonly events: readonly EventChances[];
  private readonly maker: DemoTrader;
  private readonly takers: readonly DemoTrader[];
  private readonly venue: DemoVenue;
  /** The maker's order at each price, by token and ticks. */
  private readonly quotes = new Map<string, Map<number, string>>();
  private hasBegun = false;
  private readonly ended: Promise<void>;

  /** They begin at once. */
  constructor(options: DemoTradersOptions) {
    this.o = options;
    const { config, fund, port, separators } = options;
    const host = hostToReach(config.host);
    const { signal } = this.stopping;
    const localAddress = host === '127.0.0.1' ? { localAddress: OWN_ADDRESS } : {};
    const agent = new Agent({ ...CONNECTION, ...localAddress });
    this.venue = { config, separators, host, port, fund, agent, signal };
    const traders = Array.from({ length: 1 + TAKERS }, (_, i) => {
      const key = createHmac('sha256', options.secret).update(`demo trader ${i}`).digest();
      return new DemoTrader(this.venue, key);
    });
    this.maker = traders[0]!;
    this.takers = traders.slice(1);
    this.events = EventChances.all(options.markets);
    this.ended = this.run();
  }

  /** What is under way is given up; quotes stay until the next start renews them. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.ended;
    this.venue.agent.destroy();
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    let logged = '';
    while (!signal.aborted) {
      let waitMs = TURN_MS;
      try {
        if (!this.isDemo()) return await this.leave();
        if (!this.hasBegun) await this.begin();
        await this.turn();
        logged = '';
      } catch (error) {
        if (signal.aborted) return;
        waitMs = REST_MS;
        const { code, message } = error as NodeJS.ErrnoException;
        // Not every system has all of 127.0.0.0/8.
        if (code === 'EADDRNOTAVAIL') this.venue.agent = new Agent(CONNECTION);
        if (message !== logged) this.o.log('debug', `demo traders rest: ${message}`);
        logged = message;
      }
      await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }

  private async begin(): Promise<void> {
    for (const trader of [this.maker, ...this.takers]) await trader.join();
    // Of an earlier run.
    await this.maker.cancelAll();
    for (const event of this.events) {
      const books = await this.read(event.books);
      event.follow(
        books.map(({ asks, bids }, i) => {
          const grid = event.books[i]!.market.ticksPerUnit;
          return ((bids[0]?.ticks ?? 0) + (asks[0]?.ticks ?? grid)) / 2 / grid;
        }),
      );
    }
    this.hasBegun = true;
    this.o.log('debug', 'demo traders trade the demo markets (DEMO_TRADERS=off: none)');
  }

  /** The catalog is another one than the demo, or became one. */
  private async leave(): Promise<void> {
    if (this.hasBegun) await this.maker.cancelAll().catch(() => undefined);
    this.o.log(this.hasBegun ? 'info' : 'debug', 'no demo traders: the catalog is not the demo');
  }

  private isDemo(): boolean {
    const { keys, ids } = this.o.catalog().prepared.markets;
    const { markets } = this.o;
    const isThere = ({ conditionId }: CatalogMarket): boolean =>
      rowsNamed(keys.conditionId!, keyOf('number', conditionId)).length > 0;
    return ids.length === markets.length && markets.every(isThere);
  }

  /** One event: its chances take a step, its quotes follow, and somebody may trade. */
  private async turn(): Promise<void> {
    const { events, random } = this;
    const event = events[Math.floor(events.length * random() ** PREFERENCE)]!;
    event.step(random);
    const plans = this.plan(event, await this.read(event.books));
    await this.maker.cancel(plans.flatMap(({ cancels }) => cancels));
    const sweeps = plans.flatMap(({ sweep }) => sweep);
    if (sweeps.length > 0) await this.taker().post(sweeps);
    const quotes = plans.flatMap((plan) => plan.quotes);
    if (quotes.length > 0) {
      const ids = await this.maker.post(quotes);
      for (const [i, { isBuy, market, outcome, ticks }] of quotes.entries()) {
        if (ids[i] !== '') this.quotesOf({ market, outcome }).set(isBuy ? ticks : -ticks, ids[i]!);
      }
    }
    if (random() < TAKE_RATE) await this.taker().post([this.take(event, plans)]);
  }

  /** Forgets the quotes that it names for cancelling. */
  private plan(event: EventChances, books: readonly Sides[]) {
    const chances = event.chances();
    return event.books.map((book, i) => {
      const grid = book.market.ticksPerUnit;
      const step = stepOf(book);
      const middle = Math.round((chances[i]! * grid) / step) * step;
      const { asks, bids } = books[i]!;
      const wanted = new Map<number, number>();
      for (let level = 1; level <= LEVELS; level++) {
        const shares = 12 * level + Math.floor(this.random() * 12);
        if (middle - level * step > 0) wanted.set(middle - level * step, shares);
        if (middle + level * step < grid) wanted.set(-(middle + level * step), shares);
      }
      const own = this.quotesOf(book);
      const thin = (ticks: number): boolean => {
        const levels = ticks > 0 ? bids : asks;
        const found = levels.find((level) => level.ticks === Math.abs(ticks));
        return (found?.shares ?? 0) < wanted.get(ticks)! / 2;
      };
      const missing = [...wanted.keys()].filter(thin);
      const isGone = (ticks: number): boolean => !wanted.has(ticks) || missing.includes(ticks);
      const cancelled = [...own.keys()].filter(isGone);
      const cancels = cancelled.map((ticks) => own.get(ticks)!);
      const isOwn = (ticks: number): boolean => cancelled.includes(ticks);
      for (const ticks of cancelled) own.delete(ticks);
      const common = { ...book, type: 'GTC', postOnly: true } as const;
      const quotes = missing.map((ticks) => ({
        ...common,
        isBuy: ticks > 0,
        ticks: Math.abs(ticks),
        shares: wanted.get(ticks)!,
      }));
      const sweep = [
        ...crossing(
          book,
          false,
          bids.filter(({ ticks }) => ticks >= middle && !isOwn(ticks)),
        ),
        ...crossing(
          book,
          true,
          asks.filter(({ ticks }) => ticks <= middle && !isOwn(-ticks)),
        ),
      ];
      return { book, middle, cancels, quotes, sweep };
    });
  }

  /** An order that trades at the best price, of a pair as often in one outcome's name as in the other's. */
  private take(
    event: EventChances,
    plans: readonly { readonly book: DemoBook; readonly middle: number }[],
  ): DemoOrderTerms {
    const { random } = this;
    const { book, middle } = plans[Math.floor(random() * event.books.length)]!;
    const { market, outcome } = book;
    const grid = market.ticksPerUnit;
    const isBuy = random() < 0.5;
    const away = (isBuy ? 2 : -2) * stepOf(book);
    const ticks = Math.min(grid - 1, Math.max(1, middle + away));
    // Often more than the best level has: who quotes beside the maker is filled too.
    const shares = 10 + Math.floor(random() * 50);
    const common = { market, shares, type: 'FAK', postOnly: false } as const;
    if (market.tokenIds.length > 2 || random() < 0.5) return { ...common, outcome, isBuy, ticks };
    return { ...common, outcome: 1 - outcome, isBuy: !isBuy, ticks: grid - ticks };
  }

  private taker(): DemoTrader {
    return this.takers[Math.floor(this.random() * TAKERS)]!;
  }

  /** Bids under their ticks, offers under the negative. */
  private quotesOf({ market, outcome }: DemoBook): Map<number, string> {
    const token = market.tokenIds[outcome]!;
    let quotes = this.quotes.get(token);
    if (quotes === undefined) {
      quotes = new Map();
      this.quotes.set(token, quotes);
    }
    return quotes;
  }

  /** Best levels first. */
  private async read(books: readonly DemoBook[]): Promise<Sides[]> {
    const tokens = books.map(({ market, outcome }) => ({ token_id: market.tokenIds[outcome]! }));
    const body = JSON.stringify(tokens);
    const answer = await ask(this.venue, 'POST', '/books', {}, body);
    const found = JSON.parse(answer) as {
      readonly bids: readonly LevelJson[];
      readonly asks: readonly LevelJson[];
    }[];
    return found.map(({ asks, bids }, i) => {
      const grid = books[i]!.market.ticksPerUnit;
      const levelOf = ({ price, size }: LevelJson): Level => ({
        ticks: Math.round(Number(price) * grid),
        shares: Number(size),
      });
      return { bids: bids.map(levelOf).reverse(), asks: asks.map(levelOf).reverse() };
    });
  }
}

/** Half a hundredth, or one tick where that is more. */
function stepOf({ market }: DemoBook): number {
  return Math.max(1, Math.floor(market.ticksPerUnit / 200));
}

/** The order that takes levels which the chance has passed. */
function crossing(book: DemoBook, isBuy: boolean, levels: readonly Level[]): DemoOrderTerms[] {
  if (levels.length === 0) return [];
  const shares = levels.reduce((sum, level) => sum + level.shares, 0);
  const ticks = levels.at(-1)!.ticks;
  const least = Math.ceil(book.market.minSizeMicro / 1e6);
  return [
    {
      ...book,
      isBuy,
      ticks,
      shares: Math.max(least, Math.ceil(shares)),
      type: 'FAK',
      postOnly: false,
    },
  ];
}
