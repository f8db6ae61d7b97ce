/**
 * The users whose events are kept, and the newest events of all of them, from which a connection that
 * was lost is told what it missed. A user is kept from its first subscription on; who was told
 * nothing in this run has nothing to resume.
 *
 *   user:<address>               every event of a wallet's keys
 *   user:<address>:<condition>   those of one market, for who subscribes to some markets only
 *
 * Thread: the I/O thread.
 */
import { ADDRESS_WORDS } from '../../engine/tables/codes.ts';
import { wordsToHex } from '../common/uint256.ts';
import type { Publish } from '../http/sockets.ts';
import { envelope, type Numbered } from './numbering.ts';
import { sameWords } from './order-facts.ts';

/** Events of the node that are kept: a minute of a busy one, at least the promised 10,000. */
export const EVENTS_KEPT = 16_384;

/**
 * Characters of them: a trade lists up to 500 orders, and so many of that size would be gigabytes. The
 * promised number may have 13,000 each.
 */
export const KEPT_BYTES_MAX = 2 ** 27;

/** Users without a connection that are remembered: about 200 bytes each, and for each market that they trade. */
const AWAY_MAX = 65_536;

const NONE = -1;

/** One event, as it may have to be sent once more. */
export interface KeptEvent {
  readonly user: User;
  readonly condition: string;
  /** In the stream of the user, and of the market. */
  readonly sequence: number;
  readonly ofMarket: number;
  /** Places of the events before it in both streams; NONE = it is the first. */
  readonly before: number;
  readonly beforeOfMarket: number;
  /** JSON without braces and envelope. */
  readonly body: string;
}

/** A stream, and the place of its newest event. */
interface KeptStream extends Numbered {
  newest: number;
}

/** A connection that takes events as they come, until it has caught up with its topic. */
export interface CatchingUp {
  /** It may be one of its own. */
  later(event: KeptEvent): void;
}

export class User {
  readonly address: Int32Array;
  readonly name: string;
  readonly all: KeptStream;
  readonly catchingUp = new Set<CatchingUp>();
  connections = 0;
  /** Connections that joined each topic. */
  readonly joined = new Map<string, number>();
  private readonly run: string;
  /** Of which something was told: to subscribe alone leaves nothing behind. */
  private readonly markets = new Map<string, KeptStream>();

  constructor(address: Int32Array, run: string) {
    this.address = address;
    this.run = run;
    this.name = `user:${wordsToHex(address, 0, ADDRESS_WORDS)}`;
    this.all = { id: `${this.name}:${run}`, sequence: 0, newest: NONE };
  }

  /** The stream of one market, as it stands. */
  ofMarket(condition: string): Readonly<KeptStream> {
    const id = `${this.name}:${condition}:${this.run}`;
    return this.markets.get(condition) ?? { id, sequence: 0, newest: NONE };
  }

  /** The same, to be told of something. */
  toldOfMarket(condition: string): KeptStream {
    const stream = this.markets.get(condition) ?? { ...this.ofMarket(condition) };
    this.markets.set(condition, stream);
    return stream;
  }

  countJoined(topic: string, change: 1 | -1): void {
    const count = (this.joined.get(topic) ?? 0) + change;
    if (count === 0) this.joined.delete(topic);
    else this.joined.set(topic, count);
  }
}

export interface ReplayBufferParts {
  readonly publish: Publish;
  readonly now: () => number;
  readonly run: string;
  /** Events that are kept, of all users. */
  readonly kept: number;
}

export class ReplayBuffer {
  private readonly o: ReplayBufferParts;
  /** By the first word of the address; hardly ever more than one. */
  private readonly byWord = new Map<number, User[]>();
  private readonly ring: (KeptEvent | undefined)[];
  private written = 0;
  /** Place of the oldest event that is kept, and the characters of all from there on. */
  private first = 0;
  private bytes = 0;
  /** Counts the users that were made: one that comes back after it was forgotten is another. */
  private made = 0;
  private readonly away = new Set<User>();

  constructor(parts: ReplayBufferParts) {
    this.o = parts;
    this.ring = new Array<KeptEvent | undefined>(parts.kept).fill(undefined);
  }

  get isEmpty(): boolean {
    return this.byWord.size === 0;
  }

  /** The user whose address stands at `at`, if its events are kept. */
  find(words: Int32Array, at: number): User | undefined {
    const users = this.byWord.get(words[at]!);
    return users?.find((user) => sameWords(user.address, 0, words, at, ADDRESS_WORDS));
  }

  /** The user of a new connection. */
  enter(address: Int32Array): User {
    let user = this.find(address, 0);
    if (user === undefined) {
      this.made += 1;
      user = new User(address.slice(), `${this.o.run}.${this.made}`);
      const others = this.byWord.get(address[0]!) ?? [];
      this.byWord.set(address[0]!, [...others, user]);
    }
    this.away.delete(user);
    user.connections += 1;
    return user;
  }

  leave(user: User): void {
    user.connections -= 1;
    if (user.connections > 0) return;
    this.away.add(user);
    if (this.away.size <= AWAY_MAX) return;
    const [oldest] = this.away;
    this.away.delete(oldest!);
    const word = oldest!.address[0]!;
    const others = (this.byWord.get(word) ?? []).filter((other) => other !== oldest);
    if (others.length === 0) this.byWord.delete(word);
    else this.byWord.set(word, others);
  }

  /** Numbers an event, keeps it and sends it. */
  tell(user: User, condition: string, body: string): void {
    const market = user.toldOfMarket(condition);
    user.all.sequence += 1;
    market.sequence += 1;
    const event = {
      user,
      condition,
      sequence: user.all.sequence,
      ofMarket: market.sequence,
      before: user.all.newest,
      beforeOfMarket: market.newest,
      body,
    };
    user.all.newest = this.written;
    market.newest = this.written;
    this.keep(event);
    for (const { id } of [user.all, market]) {
      if (user.joined.has(id)) this.o.publish(id, Buffer.from(this.frame(event, id === market.id)));
    }
    for (const connection of user.catchingUp) connection.later(event);
  }

  private keep(event: KeptEvent): void {
    const { ring } = this;
    if (this.written - this.first === ring.length) this.forgetOldest();
    ring[this.written % ring.length] = event;
    this.written += 1;
    this.bytes += event.body.length;
    while (this.bytes > KEPT_BYTES_MAX && this.first < this.written - 1) this.forgetOldest();
  }

  private forgetOldest(): void {
    const at = this.first % this.ring.length;
    this.bytes -= this.ring[at]!.body.length;
    this.ring[at] = undefined;
    this.first += 1;
  }

  /** @param ofMarket whether it is numbered in the stream of its market */
  frame({ body, condition, ofMarket, sequence, user }: KeptEvent, isOfMarket: boolean): string {
    const { id } = isOfMarket ? user.ofMarket(condition) : user.all;
    const number = isOfMarket ? ofMarket : sequence;
    return `{${body},${envelope({ id, sequence: number }, this.o.now())}}`;
  }

  /**
   * The events of a stream after `sequence`, oldest first; undefined when some are no longer kept,
   * or it never came that far.
   *
   * @param condition of the market whose stream it is; undefined = the user's
   */
  since(user: User, condition: string | undefined, sequence: number): KeptEvent[] | undefined {
    const stream = condition === undefined ? user.all : user.ofMarket(condition);
    if (sequence > stream.sequence) return undefined;
    const missed: KeptEvent[] = [];
    // From event to event: a message may ask for hundreds of streams, each with little in it.
    for (let at = stream.newest; missed.length < stream.sequence - sequence; ) {
      if (at < this.first) return undefined;
      const event = this.ring[at % this.ring.length]!;
      missed.push(event);
      at = condition === undefined ? event.before : event.beforeOfMarket;
    }
    return missed.reverse();
  }

  /** What was recorded is not whole: whoever comes back is told that it cannot resume. */
  forgetAll(): void {
    this.byWord.clear();
    this.away.clear();
    this.ring.fill(undefined);
    this.written = 0;
    this.first = 0;
    this.bytes = 0;
  }
}
