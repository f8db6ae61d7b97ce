/**
 * The feeds of the streams on an engine of their own, without sockets, workers or disk. Batches of
 * a random stream are applied, and published when the test says that they are flushed.
 */
import type { CommandBuffer } from '../../engine/commands.ts';
import { EventBuffer } from '../../engine/events.ts';
import type { RejectReasonCode } from '../../engine/orders/reject-reasons.ts';
import { lastBatch } from '../../engine/reads.ts';
import { State } from '../../engine/tables/layout.ts';
import { BookRenderer } from '../../server/market-data/books.ts';
import { TokenTexts } from '../../server/market-data/texts.ts';
import type { AppliedBatch } from '../../server/orders/worker/applied-batch.ts';
import { MarketFeed } from '../../server/streams/market-feed.ts';
import { Names } from '../../server/streams/names.ts';
import { NewMarkets } from '../../server/streams/new-markets.ts';
import { RecentBatches } from '../../server/streams/recent-batches.ts';
import { ReplayBuffer, type User } from '../../server/streams/replay-buffer.ts';
import { UserFeed } from '../../server/streams/user-feed.ts';
import { EngineDriver, ROOMY } from '../engine/engine-driver.ts';
import type { Command, Outcome } from '../engine/naive-types.ts';

const RECORDS = 2 ** 16;
/** Room for the longest command of a stream, so that command n begins at n times this. */
const COMMAND_WORDS = 64;

export interface Published {
  readonly topic: string;
  readonly text: string;
}

export class FeedStage extends EngineDriver {
  readonly texts: TokenTexts;
  readonly books: BookRenderer;
  readonly market: MarketFeed;
  readonly newMarkets: NewMarkets;
  readonly recent: RecentBatches;
  readonly users: ReplayBuffer;
  readonly userFeed: UserFeed;
  readonly published: Published[] = [];
  /** Applied batches that are not published yet. */
  readonly unflushed: AppliedBatch[] = [];
  private readonly events: EventBuffer;
  private commands = 0;
  private told = 0;
  private time = 0;

  constructor(eventsMax = 1_000, capacities = ROOMY) {
    const events = new EventBuffer(RECORDS);
    super(capacities, events);
    this.events = events;
    const info = () => ({
      question: '',
      slug: '',
      icon: '',
      eventSlug: '',
      outcomes: ['Yes', 'No'],
    });
    this.texts = new TokenTexts(this.t, info);
    this.books = new BookRenderer(this.t, this.texts);
    const names = new Names(this.t, info);
    const parts = {
      publish: (topic: string, text: Uint8Array) =>
        void this.published.push({ topic, text: Buffer.from(text).toString() }),
      now: () => 1_700_000_000_000,
      venue: 'test',
      batch: 0,
    };
    const whenBatchesDone = (): void => {
      throw new Error('the stage never subscribes in the middle of a batch');
    };
    this.market = new MarketFeed({ ...parts, names, books: this.books, whenBatchesDone });
    this.newMarkets = new NewMarkets({ ...parts, names });
    this.recent = new RecentBatches(names, 0);
    const missedBy = this.recent.missedBy.bind(this.recent);
    this.users = new ReplayBuffer({ ...parts, missedBy, eventsMax });
    this.userFeed = new UserFeed(names, this.users);
  }

  override run(command: Command): Outcome {
    if (command.kind === 'at') {
      this.endBatch();
      this.time = command.time;
      return super.run(command);
    }
    return super.run(command);
  }

  override apply(encode: (out: CommandBuffer) => number): RejectReasonCode {
    const { context } = this.engine;
    const before = context.changes;
    this.events.command = this.commands * COMMAND_WORDS;
    const reason = super.apply(encode);
    if (context.changes !== before) this.commands += 1;
    return reason;
  }

  endBatch(): void {
    const before = this.logged.length;
    this.close();
    if (this.logged.length > before) {
      const words = new Int32Array(Math.max(1, this.commands) * COMMAND_WORDS);
      this.logged.at(-1)!.commands.forEach((command, i) => {
        words.set(command, i * COMMAND_WORDS);
      });
      const events = Int32Array.from(this.events.i32.subarray(0, this.events.words));
      this.unflushed.push({
        sequence: lastBatch(this.t),
        endFill: 0,
        time: this.time,
        events,
        eventsF: new Float64Array(events.buffer),
        isWhole: true,
        commands: words,
        commandsF: new Float64Array(words.buffer),
      });
    }
    this.commands = 0;
  }

  flush(): void {
    const batch = this.unflushed.shift();
    if (batch === undefined) return;
    this.market.flushed(batch);
    this.userFeed.flushed(batch);
    this.newMarkets.flushed(batch);
    this.recent.add(batch);
    this.users.reached(batch.sequence);
  }

  tell(user: User, condition: string, body: string): void {
    this.told += 1;
    this.users.append(user, condition, body, this.told);
    this.users.reached(this.told);
  }

  openOrders(): number {
    return this.t.state[State.openOrders]!;
  }

  taken(): Published[] {
    return this.published.splice(0);
  }
}
