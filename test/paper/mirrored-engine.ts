/**
 * A book mirror of a fake venue into an engine in this process, where its faults take milliseconds.
 */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { CommandBuffer, commandWords } from '../../engine/commands.ts';
import { RejectReason, type RejectReasonCode } from '../../engine/orders/reject-reasons.ts';
import type { Impact } from '../../engine/paper/mirrored-book.ts';
import type { QueueRule } from '../../engine/paper/place.ts';
import { closedCount, marketFirstToken } from '../../engine/reads.ts';
import { type SimulatedOrder, Simulator } from '../../engine/simulator.ts';
import { Depth, type DepthSide, readDepth } from '../../engine/tables/depth.ts';
import { MICRO, type TokenRow } from '../../engine/tables/units.ts';
import { marketCommands } from '../../server/catalog/market-registry.ts';
import { microText } from '../../server/common/decimal.ts';
import { parseChoice } from '../../server/common/market-choice.ts';
import { marketByCondition } from '../../server/market-data/find.ts';
import { BookMirror } from '../../server/paper/book-mirror.ts';
import { NodeBroker } from '../../server/paper/node-broker.ts';
import { SourceApi } from '../../server/paper/source-api.ts';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import { until } from '../common/node-harness.ts';
import { FakeVenue } from './fake-source.ts';

const CAPACITIES = {
  markets: 256,
  tokens: 512,
  accounts: 64,
  orders: 4_096,
  levels: 65_536,
  trades: 1_000,
  history: 1_000,
  positions: 1_024,
};
/** Long enough for a busy machine: no time-out of its own pauses a book. */
const LONG_MS = 60_000;

/** Time of a simulator whose clock stands still. */
const TIME = 1;

interface Settings {
  readonly markets?: number;
  readonly impact?: Impact;
  readonly queue?: QueueRule;
  /** Milliseconds for which a stale book keeps its levels. */
  readonly graceMs?: number;
  readonly silenceMs?: number;
}

export class MirroredEngine {
  readonly venue: FakeVenue;
  mirror: BookMirror;
  readonly market: CatalogMarket;
  readonly token: string;
  readonly second: string;
  pulls = 0;
  readonly lines: string[] = [];
  readonly sim = new Simulator(CAPACITIES, { ledger: true });
  private readonly depth = new Depth();
  private readonly closing = new AbortController();
  private readonly own: NodeBroker;
  private readonly open: (choice: string) => BookMirror;

  private constructor(venue: FakeVenue, settings: Settings) {
    const { graceMs = LONG_MS, impact = 'keep', queue = 'pessimistic' } = settings;
    this.venue = venue;
    this.market = venue.markets[0]!;
    [this.token, this.second] = this.market.tokenIds as [string, string];
    this.sim.deposit('source', 1e9 * MICRO);
    this.register();
    const log = (_: string, line: string): void => void this.lines.push(line);
    this.own = new NodeBroker({
      tables: this.sim.engine.t,
      log,
      impact,
      queue,
      signal: this.closing.signal,
      name: 'mirror',
      namesOf: (row) => this.venue.markets[row - 1]?.outcomes,
      source: async (commands) => this.apply(commands),
      whenBatchesDone: (callback) => setImmediate(callback),
      pull: () => {
        this.pulls += 1;
        this.register();
      },
    });
    this.open = (choice) =>
      new BookMirror({
        url: venue.url,
        streamUrl: venue.streamUrl,
        node: this.own,
        log,
        api: new SourceApi(venue.url, venue.url, this.closing.signal),
        choice: parseChoice(choice)!,
        traded: this.own.traded(),
        settle: async () => [],
        rate: 1_000,
        refreshMs: 50,
        graceMs,
        times: { pingMs: 20, silenceMs: settings.silenceMs ?? LONG_MS, againMs: 10 },
      });
    this.mirror = this.open('top:250');
  }

  /** Starts the mirror like a node after a kill, with another choice of markets. */
  async startAgain(choice: string): Promise<void> {
    await this.mirror.close();
    await this.own.clear();
    this.mirror = this.open(choice);
  }

  /** Starts a mirror of all markets of the venue; resolves when their books are equal. */
  static async start(
    t: TestContext,
    set: (venue: FakeVenue, token: string) => void,
    settings: Settings = {},
  ): Promise<MirroredEngine> {
    const venue = await FakeVenue.start(t, settings.markets);
    for (const { tokenIds } of venue.markets) set(venue, tokenIds[0]!);
    const mirrored = new MirroredEngine(venue, settings);
    t.after(() => mirrored.mirror.close());
    await mirrored.equal();
    return mirrored;
  }

  get state(): string {
    const { stale, live, paused, staleBooks } = this.mirror.facts();
    if (live === 1) return 'live';
    const reason = staleBooks[0]?.reason ?? 'nothing';
    return `${paused === 1 ? 'paused' : stale === 1 ? 'stale' : 'absent'}: ${reason}`;
  }

  staleCount(reason: string): number {
    return new Map<string, number>(this.mirror.facts().staleCounts).get(reason)!;
  }

  place(order: Omit<SimulatedOrder, 'token'>, market = this.market): number {
    const token = this.tokenRow(market);
    const { order: number, reason } = this.sim.place({ ...order, token });
    assert.equal(reason, RejectReason.accepted);
    return number;
  }

  levels(market = this.market): { readonly bids: string[]; readonly asks: string[] } {
    assert(readDepth(this.sim.engine.t, this.tokenRow(market), this.depth));
    const { asks, bids, ticksPerUnit } = this.depth;
    const texts = ({ count, sizes, ticks }: DepthSide): string[] =>
      Array.from({ length: count }, (_, i) => {
        const price = microText((ticks[i]! * MICRO) / (ticksPerUnit as number));
        return `${microText(sizes[i]!)}@${price}`;
      }).sort();
    return { bids: texts(bids), asks: texts(asks) };
  }

  /** Waits until every market is live and equals that of the venue. */
  async equal(): Promise<void> {
    const { mirror, venue } = this;
    const shown = (levels: object): string => JSON.stringify(levels);
    await until(
      () =>
        mirror.facts().live === venue.markets.length &&
        venue.markets.every(
          (market) =>
            venue.isFollowed(market.tokenIds[0]!) &&
            shown(this.levels(market)) === shown(venue.levels(market.tokenIds[0]!)),
        ),
    );
  }

  private tokenRow({ conditionId }: CatalogMarket): TokenRow {
    const { t } = this.sim.engine;
    const row = marketByCondition(t, conditionId);
    assert(row !== 0);
    return marketFirstToken(t, row);
  }

  private register(): void {
    for (const words of marketCommands(this.sim.engine.t, this.venue.markets, assert.fail)) {
      const batch = new CommandBuffer(words.length);
      batch.i32.set(words);
      batch.words = words.length;
      this.apply(batch);
    }
  }

  private apply({ i32, f64, words }: CommandBuffer): RejectReasonCode[] {
    const reasons: RejectReasonCode[] = [];
    const { engine } = this.sim;
    engine.begin(TIME, closedCount(engine.t));
    for (let at = 0; at < words; at += commandWords(i32, at)) {
      reasons.push(engine.apply(i32, f64, at));
    }
    engine.end();
    return reasons;
  }
}
