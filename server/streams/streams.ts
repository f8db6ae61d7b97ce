/**
 * Composition of the streams: the two WebSocket routes, and the feeds behind them.
 *
 * Thread: the I/O thread.
 */
import { lastBatch } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { Credential } from '../auth/key-registry.ts';
import type { Publish, SocketRoute } from '../http/sockets.ts';
import type { BookRenderer } from '../market-data/books.ts';
import type { MarketLifecycle, MarketLookup, TokenTexts } from '../market-data/texts.ts';
import type { AppliedBatch } from '../orders/worker/applied-batch.ts';
import { BalanceFeed } from './balance-feed.ts';
import type { CloseName } from './closes.ts';
import type { Connection, ConnectionParts } from './connection.ts';
import { Connections, type StreamFacts } from './connections.ts';
import type { FaultySockets } from './faulty-sockets.ts';
import { MarketConnection } from './market-channel.ts';
import { MarketFeed } from './market-feed.ts';
import { Names } from './names.ts';
import { NewMarkets } from './new-markets.ts';
import type { OrderRequestParts } from './order-requests.ts';
import type { RecentBatches } from './recent-batches.ts';
import { EVENTS_MAX, ReplayBuffer } from './replay-buffer.ts';
import { ResolvedMarkets } from './resolved-markets.ts';
import { messageBytesMax, type StreamLimits } from './stream-bounds.ts';
import { type KeyComes, UserConnection } from './user-channel.ts';
import { UserFeed } from './user-feed.ts';

export interface StreamParts {
  readonly tables: Tables;
  readonly texts: TokenTexts;
  readonly lookup: MarketLookup;
  readonly books: BookRenderer;
  readonly limits: StreamLimits;
  readonly key: (apiKey: string) => Credential | undefined;
  readonly readOnlyKey: (key: string) => { readonly address: Uint8Array } | undefined;
  readonly keyComes?: KeyComes;
  readonly whenBatchesDone: (callback: () => void) => void;
  readonly now: () => number;
  /** Monotonic milliseconds, for measuring silence. */
  readonly elapsed: () => number;
  readonly log: (line: string) => void;
  /** Name of the node in stream ids (numbering.ts). */
  readonly venue: string;
  /** The caller adds each batch before `flushed`. */
  readonly recent: RecentBatches;
  /** Absent with FAULTS=off. */
  readonly faulty?: FaultySockets | undefined;
  readonly eventsMax?: number;
  /** Absent where the user stream takes no orders. */
  readonly orders?: OrderRequestParts;
}

/** Multiple of the bound of a slow reader that may wait until the next check. */
const HARD_FACTOR = 8;
/** Seconds after the bound of silence when a connection that transfers nothing is cut. */
const CUT_LATER_SECONDS = 30;

export class Streams {
  readonly routes: readonly SocketRoute[];
  private readonly parts: StreamParts;
  private readonly connections: Connections;
  private readonly market: MarketFeed;
  private readonly newMarkets: NewMarkets;
  private readonly resolvedMarkets: ResolvedMarkets;
  private readonly replayBuffer: ReplayBuffer;
  private readonly user: UserFeed;
  private readonly balances: BalanceFeed;
  private send: Publish = () => undefined;

  constructor(parts: StreamParts) {
    const { books, elapsed, limits, lookup, now, tables, texts, whenBatchesDone } = parts;
    this.parts = parts;
    const names = new Names(tables, lookup);
    const publish: Publish = (topic, text) => this.send(topic, text);
    this.connections = new Connections(limits, elapsed);
    const batch = lastBatch(tables);
    const feedParts = { publish, now, venue: parts.venue, batch };
    this.market = new MarketFeed({ ...feedParts, names, books, whenBatchesDone });
    this.newMarkets = new NewMarkets({ ...feedParts, names });
    this.resolvedMarkets = new ResolvedMarkets({ ...feedParts, names });
    this.replayBuffer = new ReplayBuffer({
      ...feedParts,
      missedBy: (user, kind) => parts.recent.missedBy(user, kind),
      eventsMax: parts.eventsMax ?? EVENTS_MAX,
    });
    this.user = new UserFeed(names, this.replayBuffer);
    this.balances = new BalanceFeed(names, this.replayBuffer);
    const feed = this.market;
    this.routes = [
      this.route('/ws/market', (common) => new MarketConnection({ tables, texts, feed }, common)),
      this.route(
        '/ws/user',
        (common) => {
          const { key: lookup, keyComes, orders, readOnlyKey: lookupReadOnly } = parts;
          const own = { keyComes, lookup, lookupReadOnly, orders };
          return new UserConnection({ replayBuffer: this.replayBuffer, tables, ...own }, common);
        },
        parts.orders?.operations,
      ),
    ];
  }

  open(publish: Publish): void {
    this.send = this.parts.faulty?.publishing(publish) ?? publish;
  }

  /**
   * Publishes a batch. The events of a batch of a million changes may be incomplete; every client must begin again
   * then. Never throws, because an error in the streams must not affect orders.
   */
  flushed(batch: AppliedBatch): void {
    try {
      if (batch.isWhole) {
        this.market.flushed(batch);
        this.user.flushed(batch);
        this.balances.flushed(batch);
        this.resolvedMarkets.flushed(batch);
        this.newMarkets.flushed(batch);
        this.replayBuffer.reached(batch.sequence);
      } else {
        this.restart('begin_anew', 'too much has changed at once: subscribe anew', batch);
      }
    } catch (error) {
      this.parts.log(`streams: ${error instanceof Error ? error.stack : String(error)}`);
      this.restart('failed', 'internal error: subscribe anew', batch);
    }
    this.connections.closeSlow();
  }

  facts(): StreamFacts {
    return this.connections.facts();
  }

  announce(story: (condition: string) => MarketLifecycle | undefined): void {
    this.newMarkets.announce(story);
  }

  /** Discards messages from now on, because the server may be closed. */
  close(): void {
    this.send = () => undefined;
    this.connections.stop();
  }

  private restart(why: CloseName, reason: string, { sequence }: AppliedBatch): void {
    this.connections.endAll(why, reason);
    this.parts.recent.clear(sequence);
    this.replayBuffer.forgetAll();
    this.replayBuffer.reached(sequence);
    this.newMarkets.lost(sequence);
    this.market.begin(sequence);
  }

  private route(
    path: string,
    open: (common: ConnectionParts) => Connection,
    frames: SocketRoute['frames'] = [],
  ): SocketRoute {
    const { elapsed, faulty, limits, now: wall } = this.parts;
    const { backpressureBytes, idleSeconds, subscriptionsMax } = limits;
    const { budgets, closes, pacer } = this.connections;
    return {
      path,
      frames,
      messageBytesMax: messageBytesMax(subscriptionsMax),
      waitingBytesMax: HARD_FACTOR * backpressureBytes,
      cutSeconds: idleSeconds + CUT_LATER_SECONDS,
      refusal: () => this.connections.refusal(),
      open: (socket, caller, requests) => {
        const struck = faulty?.socketOf(socket);
        const budget = budgets.open(caller);
        const onClosed = (closed: Connection): void => {
          budgets.close(budget);
          this.connections.delete(closed);
          if (struck !== undefined) faulty?.closed(struck);
        };
        const connection = open({
          socket: struck ?? socket,
          from: caller,
          frames: requests,
          limits,
          elapsed,
          wall,
          budget,
          pacer,
          closes,
          onClosed,
          identified: struck && ((key, address) => struck.identified(key, address)),
        });
        this.connections.add(connection);
        return connection;
      },
    };
  }
}
