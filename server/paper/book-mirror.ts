/**
 * The live book mirror: chooses markets of a source, follows their streams, and applies each book to the engine. A
 * fault of a source pauses the books that it concerns, and never the node.
 *
 * Thread: the I/O thread. Not here: the effect of a change on the engine (market-mirror.ts), payouts
 * (settlements.ts).
 */
import type { SourceStep } from '../../engine/paper/source-step.ts';
import type { SourceEvent } from '../../storage/recordings/source-message.ts';
import type { Contradictions } from '../common/contradictions.ts';
import type { Log } from '../common/logger.ts';
import type { MarketChoice } from '../common/market-choice.ts';
import { BookFeed } from './book-feed.ts';
import { chosenMarkets, isBinary } from './chosen-markets.ts';
import type { MirrorFacts } from './mirror-facts.ts';
import { SnapshotRequests } from './snapshot-requests.ts';
import type { SourceApi, SourceMarket } from './source-api.ts';
import { readFrame, type SourceMessage } from './source-frame.ts';
import { type SocketTimes, SourceSocket } from './source-socket.ts';
import { SourceStream, STREAM_TOKENS_MAX } from './source-stream.ts';
import { STALE_REASON_NAMES, type StaleReason } from './stale-books.ts';

export interface MirrorTarget {
  /**
   * Returns the market in the order of the engine, an unregistered one unchanged; undefined if it contradicts the
   * registered market.
   */
  aligned(market: SourceMarket): SourceMarket | undefined;
  contradictions(): Contradictions;
  /** Returns true for a registered market of two outcomes that has not ended. */
  isTradable(market: SourceMarket): boolean;
  hasEnded(market: SourceMarket): boolean;
  /** Applies steps to a book. Resolves with the reason for a new snapshot, if one is needed. */
  apply(market: SourceMarket, steps: readonly SourceStep[]): Promise<StaleReason | undefined>;
  /** Pulls the catalog at once, because terms of the source changed. */
  pull(): void;
}

export interface MirrorParts {
  readonly url: string;
  readonly streamUrl: string;
  readonly api: SourceApi;
  readonly choice: MarketChoice;
  /** Condition ids of markets with orders or shares. They come first of `top:N`. */
  readonly traded: readonly string[];
  readonly node: MirrorTarget;
  /** Applies resolutions of the source to the ledger. Resolves with the conditions that need no more. */
  readonly settle: (conditions: readonly string[]) => Promise<readonly string[]>;
  readonly rate: number;
  readonly refreshMs: number;
  readonly graceMs?: number;
  readonly times?: SocketTimes;
  readonly log: Log;
}

interface Mirrored {
  readonly market: SourceMarket;
  readonly feed: BookFeed;
  readonly stream: SourceStream;
}

const GRACE_MS = 3_000;
/** Pause when the source did not answer, or a chosen market is not in the catalog yet. */
const AGAIN_MS = 1_000;
/** Delay that joins news to one refresh. */
const SOON_MS = 100;
/** Bound of conditions from news. A later refresh finds further ones. */
const AWAITED_MAX = 10_000;
const LEFT_OUT_SHOWN = 5;

export class BookMirror {
  private readonly parts: MirrorParts;
  /** Keyed by the token of the first outcome. The other token is its complement. */
  private readonly books = new Map<string, Mirrored>();
  /** Keyed by the token of the second outcome, of which only trade prints are read. */
  private readonly seconds = new Map<string, Mirrored>();
  private readonly streams: SourceStream[] = [];
  private readonly asker: SnapshotRequests;
  private readonly news: SourceSocket;
  private readonly staleCounts = new Map<StaleReason, number>(
    STALE_REASON_NAMES.map((reason) => [reason, 0]),
  );
  private readonly closing = new AbortController();
  private readonly awaited = new Set<string>();
  /** Markets traded in an earlier run and not checked yet. */
  private traded: readonly string[];
  private events = 0;
  private absent = 0;
  private leftOut: readonly string[] = [];
  private timer: NodeJS.Timeout | undefined;
  private refreshing: Promise<void> | undefined;
  private problem = '';
  private streamProblem = '';
  private isSoon = false;

  constructor(parts: MirrorParts) {
    this.parts = parts;
    this.traded = parts.traded;
    this.asker = new SnapshotRequests({
      api: parts.api,
      feedOf: (token) => this.books.get(token)?.feed,
      log: (line) => parts.log('warn', `mirror: ${line}`),
    });
    // Custom events include resolutions. A subscription to tokens would add events that this socket does not read.
    this.news = new SourceSocket(
      parts.streamUrl,
      {
        opened: (send) => send({ type: 'market', assets_ids: [], custom_feature_enabled: true }),
        text: (text) => this.takeNews(text),
        ended: () => undefined,
      },
      parts.times,
    );
    this.refresh();
  }

  facts(): MirrorFacts {
    const all = [...this.books.values()];
    const staleBooks = all.filter(({ feed }) => feed.staleReason !== undefined);
    const paused = staleBooks.filter(({ feed }) => feed.isPaused);
    return {
      url: this.parts.url,
      isConnected: this.streams.length > 0 && this.streams.every(({ isFollowing }) => isFollowing),
      live: all.length - staleBooks.length,
      stale: staleBooks.length - paused.length,
      paused: paused.length,
      absent: this.absent,
      leftOut: this.leftOut,
      events: this.events,
      staleCounts: this.staleCounts,
      staleBooks: staleBooks.map(({ feed, market }) => ({
        condition: market.condition,
        reason: feed.staleReason!,
        isPaused: feed.isPaused,
        since: feed.staleSince,
      })),
    };
  }

  contradictions(): Contradictions {
    return this.parts.node.contradictions();
  }

  async close(): Promise<void> {
    this.closing.abort();
    clearTimeout(this.timer);
    this.news.close();
    for (const stream of this.streams) stream.close();
    this.asker.close();
    for (const { feed } of this.books.values()) feed.close();
    await this.refreshing;
  }

  private refresh(): void {
    this.isSoon = false;
    this.refreshing = this.look()
      .then((isComplete) => (isComplete ? this.parts.refreshMs : AGAIN_MS))
      .catch(({ message }: Error) => {
        const { closing, problem } = this;
        if (message !== problem && !closing.signal.aborted)
          this.parts.log('warn', `mirror: the source does not answer: ${message}`);
        this.problem = message;
        return AGAIN_MS;
      })
      .then((waitMs) => {
        this.refreshing = undefined;
        this.refreshIn(this.isSoon ? SOON_MS : waitMs);
      });
  }

  /** Resolves with false if another refresh is due soon. */
  private async look(): Promise<boolean> {
    const { api, choice, node } = this.parts;
    const found = await chosenMarkets(api, choice);
    const tradedThere = await api.marketsBy('condition_ids', this.traded);
    const aligned = (markets: readonly SourceMarket[]): SourceMarket[] =>
      markets.flatMap((market) => node.aligned(market) ?? []);
    const [named, top, traded] = [aligned(found.named), aligned(found.top), aligned(tradedThere)];
    this.traded = [];
    this.problem = '';
    this.removeEnded();
    this.logLeftOut([...found.named, ...tradedThere, ...found.notBinary]);
    const isNew = (market: SourceMarket): boolean =>
      !market.isClosed && isBinary(market) && !this.books.has(market.tokens[0]!);
    const chosen = new Map(named.filter(isNew).map((market) => [market.condition, market]));
    // A market that was chosen by its volume stays, after a restart too, because somebody may trade it.
    for (const market of [...traded, ...top].filter(isNew)) {
      if (this.books.size + chosen.size < choice.top) chosen.set(market.condition, market);
    }
    const known = [...chosen.values()].filter((market) => node.isTradable(market));
    this.absent = chosen.size - known.length;
    this.add(known);
    const looked = new Set([...this.awaited, ...this.conditions()]);
    for (const condition of await this.parts.settle([...looked])) {
      this.awaited.delete(condition);
    }
    return this.absent === 0;
  }

  private logLeftOut(chosen: readonly SourceMarket[]): void {
    const others = chosen.filter((market) => !market.isClosed && !isBinary(market));
    const leftOut = [...new Set(others.map(({ condition }) => condition))].sort();
    const isSame = leftOut.join() === this.leftOut.join();
    this.leftOut = leftOut;
    if (isSame) return;
    const shown = leftOut.length > LEFT_OUT_SHOWN ? ', ...' : '';
    const list =
      leftOut.length === 0 ? '' : `: ${leftOut.slice(0, LEFT_OUT_SHOWN).join(', ')}${shown}`;
    this.parts.log(
      'info',
      `mirror: ${leftOut.length} markets without two outcomes are left out${list}`,
    );
  }

  private conditions(): string[] {
    return [...this.books.values()].map(({ market }) => market.condition);
  }

  private removeEnded(): void {
    for (const [token, { feed, market, stream }] of this.books) {
      if (!this.parts.node.hasEnded(market)) continue;
      feed.close();
      stream.remove(market.tokens);
      this.books.delete(token);
      this.seconds.delete(market.tokens[1]!);
      this.awaited.add(market.condition);
    }
  }

  private add(markets: readonly SourceMarket[]): void {
    const { log, rate, node } = this.parts;
    const news = new Map<SourceStream, string[]>();
    for (const market of markets) {
      const token = market.tokens[0]!;
      if (this.books.has(token)) continue;
      const stream = this.streamWithRoom(news);
      const feed = new BookFeed({
        paceMs: 1_000 / rate,
        graceMs: this.parts.graceMs ?? GRACE_MS,
        apply: (steps) => node.apply(market, steps),
        wanted: () => {
          if (stream.isFollowing) this.asker.want(token);
        },
        onStale: (reason) => {
          this.staleCounts.set(reason, this.staleCounts.get(reason)! + 1);
          log('debug', `mirror: ${market.condition} is stale: ${reason}`);
        },
        checksHashes: () => this.asker.checksHashes,
      });
      const mirrored = { market, feed, stream };
      this.books.set(token, mirrored);
      this.seconds.set(market.tokens[1]!, mirrored);
      news.set(stream, [...(news.get(stream) ?? []), ...market.tokens]);
    }
    for (const [stream, tokens] of news) {
      stream.add(tokens);
      if (stream.isFollowing) this.wantFirst(tokens);
    }
    if (markets.length > 0)
      log(
        'info',
        `mirror: ${this.books.size} markets of ${this.parts.url}, ${markets.length} of them new`,
      );
  }

  private streamWithRoom(news: ReadonlyMap<SourceStream, readonly string[]>): SourceStream {
    const found = this.streams.find(
      (stream) => stream.tokens.size + (news.get(stream)?.length ?? 0) < STREAM_TOKENS_MAX - 1,
    );
    if (found !== undefined) return found;
    const stream: SourceStream = new SourceStream(
      this.parts.streamUrl,
      {
        opened: () => {
          this.streamProblem = '';
          this.wantFirst(stream.tokens);
        },
        event: (event) => this.take(event),
        failed: (problem) => this.tellStreamProblem(problem),
        lost: (reason, tokens) => {
          if (reason !== 'gap') this.asker.forget(tokens);
          for (const token of tokens) this.books.get(token)?.feed.markStale(reason);
        },
      },
      this.parts.times,
    );
    this.streams.push(stream);
    return stream;
  }

  private tellStreamProblem(problem: string): void {
    if (problem === this.streamProblem) return;
    this.streamProblem = problem;
    this.parts.log('warn', `mirror: ${this.parts.streamUrl}: ${problem}`);
  }

  private wantFirst(tokens: Iterable<string>): void {
    // Another source may answer at the same address.
    this.asker.checksHashes = false;
    for (const token of tokens) if (this.books.has(token)) this.asker.want(token, true);
  }

  private take(event: SourceEvent): void {
    this.events += 1;
    if (!('token' in event)) return;
    const first = this.books.get(event.token);
    const feed = (first ?? this.seconds.get(event.token))?.feed;
    if (event.kind === 'print') feed?.take(event);
    else if (event.kind !== 'tick') first?.feed.take(event);
    else if (first !== undefined) {
      feed!.markStale('tick');
      this.parts.node.pull();
    }
  }

  private takeNews(text: string): void {
    let news: SourceMessage[];
    try {
      news = readFrame(text);
    } catch {
      // The next regular refresh reads catalog and resolutions.
      return;
    }
    for (const event of news.flatMap(({ events }) => events)) {
      if (event.kind === 'listed') this.parts.node.pull();
      else if (event.kind === 'resolved') this.await(event.condition);
      else continue;
      this.refreshSoon();
    }
  }

  private await(condition: string): void {
    if (this.awaited.size < AWAITED_MAX) this.awaited.add(condition);
  }

  private refreshSoon(): void {
    if (this.isSoon) return;
    this.isSoon = true;
    if (this.refreshing === undefined) this.refreshIn(SOON_MS);
  }

  private refreshIn(ms: number): void {
    clearTimeout(this.timer);
    if (!this.closing.signal.aborted) this.timer = setTimeout(() => this.refresh(), ms);
  }
}
