/** A mirror of a fake venue into an engine in this process: what it does wrong can be done in milliseconds. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import {
  CommandBuffer,
  commandWords,
  encodeConfigure,
  encodeFunds,
} from '../../engine/commands.ts';
import { Engine } from '../../engine/engine.ts';
import type { RejectReasonCode } from '../../engine/orders/reject-reasons.ts';
import { closedCount, marketFirstToken } from '../../engine/reads.ts';
import { DEFAULT_CAPACITIES } from '../../engine/tables/capacities.ts';
import { SOURCE_ADDRESS } from '../../engine/tables/codes.ts';
import { Depth, type DepthSide, readDepth } from '../../engine/tables/depth.ts';
import { allocateEngine } from '../../engine/tables/tables.ts';
import { MICRO } from '../../engine/tables/units.ts';
import { marketCommands } from '../../server/catalog/market-registry.ts';
import { microText } from '../../server/common/decimal.ts';
import { parseChoice } from '../../server/common/market-choice.ts';
import { operatorRequestId } from '../../server/ledger/request-id.ts';
import { marketByCondition } from '../../server/market-data/find.ts';
import { Mirror } from '../../server/paper/mirror.ts';
import { NodeVenue } from '../../server/paper/node-venue.ts';
import { SourceApi } from '../../server/paper/source-api.ts';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import { until } from '../common/node-harness.ts';
import { FakeVenue } from './fake-source.ts';

const CAPACITIES = {
  ...{ markets: 16, tokens: 64, accounts: 64, orders: 4_096, levels: 65_536 },
  ...{ trades: 1_000, history: 1_000, positions: 1_024 },
};
/** A machine that is busy must not pause a book by itself. */
const LONG_MS = 60_000;

interface Patience {
  /** How long a book in doubt keeps its levels. */
  readonly graceMs?: number;
  readonly silenceMs?: number;
}

export class MirroredEngine {
  readonly venue: FakeVenue;
  readonly mirror: Mirror;
  readonly market: CatalogMarket;
  readonly token: string;
  readonly second: string;
  pulls = 0;
  readonly lines: string[] = [];
  private readonly engine: Engine;
  private time = 1_700_000_000_000;
  private readonly depth = new Depth();

  private constructor(venue: FakeVenue, { graceMs = LONG_MS, silenceMs = LONG_MS }: Patience) {
    const { markets } = venue;
    this.venue = venue;
    this.market = markets[0]!;
    [this.token, this.second] = this.market.tokenIds as [string, string];
    this.engine = new Engine(allocateEngine({ ...DEFAULT_CAPACITIES, ...CAPACITIES }));
    const out = new CommandBuffer();
    encodeConfigure(out, 0, CAPACITIES.history, 0, 0, 0, true);
    const id = operatorRequestId('1000000000000-funds')!;
    encodeFunds(out, 'deposit', { id, wallet: SOURCE_ADDRESS, amount: 1e9 * MICRO });
    this.apply(out);
    const { t } = this.engine;
    for (const words of marketCommands(t, markets, assert.fail)) {
      const batch = new CommandBuffer(words.length);
      batch.i32.set(words);
      batch.words = words.length;
      this.apply(batch);
    }
    const closing = new AbortController();
    const log = (_: string, line: string): void => void this.lines.push(line);
    const own = new NodeVenue({
      ...{ tables: t, log, impact: 'keep', queue: 'pessimistic', signal: closing.signal },
      source: async (commands) => this.apply(commands),
      whenBatchesDone: (callback) => setImmediate(callback),
      pull: () => {
        this.pulls += 1;
      },
    });
    this.mirror = new Mirror({
      ...{ url: venue.url, streamUrl: venue.streamUrl, venue: own, log },
      api: new SourceApi(venue.url, venue.url, closing.signal),
      choice: parseChoice('top:10')!,
      settle: async () => [],
      ...{ rate: 1_000, refreshMs: 50, graceMs },
      times: { pingMs: 20, silenceMs, againMs: 10 },
    });
  }

  /** The mirror follows one market, whose books are equal. */
  static async start(
    t: TestContext,
    set: (venue: FakeVenue, token: string) => void,
    patience: Patience = {},
  ): Promise<MirroredEngine> {
    const venue = await FakeVenue.start(t);
    set(venue, venue.markets[0]!.tokenIds[0]!);
    const mirrored = new MirroredEngine(venue, patience);
    t.after(() => mirrored.mirror.close());
    await mirrored.equal();
    return mirrored;
  }

  /** Its state by the facts of the mirror. */
  get state(): string {
    const { doubted, live, paused, troubled } = this.mirror.facts();
    if (live === 1) return 'live';
    const reason = troubled[0]?.reason ?? 'nothing';
    return `${paused === 1 ? 'paused' : doubted === 1 ? 'in doubt' : 'absent'}: ${reason}`;
  }

  doubts(reason: string): number {
    return new Map<string, number>(this.mirror.facts().doubts).get(reason)!;
  }

  levels(): { readonly bids: string[]; readonly asks: string[] } {
    const { t } = this.engine;
    const row = marketByCondition(t, this.market.conditionId);
    assert(row !== 0);
    assert(readDepth(t, marketFirstToken(t, row), this.depth));
    const { asks, bids, ticksPerUnit } = this.depth;
    const texts = ({ count, sizes, ticks }: DepthSide): string[] =>
      Array.from({ length: count }, (_, i) => {
        const price = microText((ticks[i]! * MICRO) / (ticksPerUnit as number));
        return `${microText(sizes[i]!)}@${price}`;
      }).sort();
    return { bids: texts(bids), asks: texts(asks) };
  }

  /** Waits until it is live, and has what the venue has. */
  async equal(): Promise<void> {
    const shown = (levels: object): string => JSON.stringify(levels);
    await until(
      () =>
        this.venue.isFollowed(this.token) &&
        this.state === 'live' &&
        shown(this.levels()) === shown(this.venue.levels(this.token)),
    );
  }

  private apply({ i32, f64, words }: CommandBuffer): RejectReasonCode[] {
    const reasons: RejectReasonCode[] = [];
    this.time += 1;
    this.engine.begin(this.time, closedCount(this.engine.t));
    for (let at = 0; at < words; at += commandWords(i32, at)) {
      reasons.push(this.engine.apply(i32, f64, at));
    }
    this.engine.end();
    return reasons;
  }
}
