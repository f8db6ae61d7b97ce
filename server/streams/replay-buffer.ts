/**
 * The users whose events are stored, and the newest events of all of them, from which a client that
 * reconnects gets the events that it missed. A user is stored from its first subscription on; what
 * happened to it before that is read from the recent batches (recent-batches.ts).
 *
 *   user:<address>               every event of a wallet's keys
 *   user:<address>:<condition>   those of one market, for clients that subscribe to some markets only
 *   user:<address>:balances      what the wallet has (balance-feed.ts), for clients that ask for it; these events
 *                                are in no other stream, because other clients do not know them
 *
 * Thread: the I/O thread.
 */
import { ADDRESS_WORDS } from '../../engine/tables/codes.ts';
import { sameWords } from '../../engine/tables/hash-index.ts';
import { wordsToHex } from '../common/uint256.ts';
import type { Publish } from '../http/sockets.ts';
import { endOf, envelope, type Numbered, type Place, Stream } from './numbering.ts';

/** Stored messages of the node: a minute of a busy one, at least the promised 10,000. */
export const EVENTS_MAX = 16_384;

/**
 * Characters of stored messages. A trade lists up to 500 orders, and so many messages of that size would be
 * gigabytes. 10,000 messages may have 13,000 characters each.
 */
export const CHARACTERS_MAX = 2 ** 27;

/**
 * Share of one user beyond which its own oldest message makes room for any new one. Up to sixteen busy users thus
 * push out no messages of others.
 */
const SHARE = 1 / 16;

/** Users without a connection that stay stored: about 200 bytes each, and as much for each market that they trade. */
const AWAY_MAX = 65_536;

/** Name of the stream of balances among condition ids of markets. */
export const BALANCES = 'balances';

export interface StoredEvent {
  readonly user: User;
  readonly condition: string;
  /** Cursors in the streams of the user and of the market; undefined: it is not in that of the user. */
  readonly ofUser: Numbered | undefined;
  readonly ofMarket: Numbered;
  /** JSON without braces and envelope. */
  readonly body: string;
  /** Neighbours among the stored messages: of all users, of the user's stream, of the market's. */
  readonly links: readonly [Link, Link, Link];
}

interface Link {
  before: StoredEvent | undefined;
  after: StoredEvent | undefined;
}

const Chain = { all: 0, user: 1, market: 2 } as const;
type Chain = (typeof Chain)[keyof typeof Chain];
const CHAINS = Object.values(Chain);

interface Ends {
  oldest: StoredEvent | undefined;
  newest: StoredEvent | undefined;
}

class StoredStream extends Stream implements Ends {
  oldest: StoredEvent | undefined = undefined;
  newest: StoredEvent | undefined = undefined;
  /** All its messages behind this cursor are stored. */
  knownFrom: Place = this.sequence;
}

/** A connection that gets new messages directly, until it has caught up with its topic. */
export interface CatchingUp {
  later(event: StoredEvent): void;
}

export class User {
  readonly address: Int32Array;
  readonly name: string;
  readonly all: StoredStream;
  readonly catchingUp = new Set<CatchingUp>();
  connections = 0;
  followsBalances = false;
  weight = 0;
  /** Number of connections in each topic. */
  readonly joined = new Map<string, number>();
  private readonly venue: string;
  /** Its messages, except balances, are stored from the end of this batch on. */
  private readonly batch: number;
  /** Streams with messages. A subscription alone stores nothing. */
  private readonly markets = new Map<string, StoredStream>();

  constructor(address: Int32Array, venue: string, batch: number) {
    this.address = address;
    this.venue = venue;
    this.batch = batch;
    this.name = `user:${wordsToHex(address, 0, ADDRESS_WORDS)}`;
    this.all = new StoredStream(`${this.name}:${venue}`, batch);
  }

  ofMarket(condition: string): Readonly<StoredStream> {
    const id = `${this.name}:${condition}:${this.venue}`;
    return this.markets.get(condition) ?? new StoredStream(id, this.batch);
  }

  marketStream(condition: string): StoredStream {
    const stream = this.markets.get(condition) ?? (this.ofMarket(condition) as StoredStream);
    this.markets.set(condition, stream);
    return stream;
  }

  beginBalances(batch: number): void {
    const { id } = this.ofMarket(BALANCES);
    this.markets.set(BALANCES, new StoredStream(id, batch));
  }

  countJoined(topic: string, change: 1 | -1): void {
    const count = (this.joined.get(topic) ?? 0) + change;
    if (count === 0) this.joined.delete(topic);
    else this.joined.set(topic, count);
  }
}

export interface MissedEvent {
  readonly condition: string;
  readonly body: string;
  readonly batch: number;
}

/** Messages of a user behind the end of a batch, oldest first. */
export interface Missed {
  readonly from: number;
  readonly events: readonly MissedEvent[];
}

export interface ReplayBufferParts {
  readonly publish: Publish;
  readonly now: () => number;
  readonly venue: string;
  /** Last batch that is known at the start. */
  readonly batch: number;
  readonly missedBy: (user: User, kind: 'orders' | 'balances') => Missed;
  readonly eventsMax: number;
}

export class ReplayBuffer {
  private readonly parts: ReplayBufferParts;
  private readonly byWord = new Map<number, User[]>();
  private readonly ends: Ends = { oldest: undefined, newest: undefined };
  /** Stored messages, and their characters. */
  private events = 0;
  private bytes = 0;
  /** User with the most, among those with recent messages. */
  private busiest: User | undefined = undefined;
  private batch: number;
  private readonly away = new Set<User>();
  private someFollowBalances = false;

  constructor(parts: ReplayBufferParts) {
    this.parts = parts;
    this.batch = parts.batch;
  }

  get place(): Place {
    return endOf(this.batch);
  }

  /** All messages of a batch have been added. */
  reached(batch: number): void {
    this.batch = batch;
  }

  get isEmpty(): boolean {
    return this.byWord.size === 0;
  }

  get hasBalances(): boolean {
    return this.someFollowBalances;
  }

  followBalances(user: User): void {
    if (user.followsBalances) return;
    user.followsBalances = true;
    this.someFollowBalances = true;
    const { events, from } = this.parts.missedBy(user, 'balances');
    user.beginBalances(from);
    for (const { batch, body, condition } of events) this.append(user, condition, body, batch);
  }

  /** User whose address is at `at`, if its messages are stored. */
  find(words: Int32Array, at: number): User | undefined {
    const users = this.byWord.get(words[at]!);
    return users?.find(({ address }) => sameWords(address, 0, words, at, ADDRESS_WORDS));
  }

  enter(address: Int32Array): User {
    let user = this.find(address, 0);
    if (user === undefined) {
      const { venue } = this.parts;
      const { events, from } = this.parts.missedBy(new User(address, venue, this.batch), 'orders');
      user = new User(address.slice(), venue, from);
      const others = this.byWord.get(address[0]!) ?? [];
      this.byWord.set(address[0]!, [...others, user]);
      for (const { batch, body, condition } of events) this.append(user, condition, body, batch);
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

  append(user: User, condition: string, body: string, batch: number): void {
    const ofMarket = numbered(user.marketStream(condition), batch);
    const ofUser = condition === BALANCES ? undefined : numbered(user.all, batch);
    const links = [unlinked(), unlinked(), unlinked()] as const;
    const event = { user, condition, ofUser, ofMarket, body, links };
    this.store(event);
    for (const place of ofUser === undefined ? [ofMarket] : [ofUser, ofMarket]) {
      const { id } = place;
      if (user.joined.has(id)) this.parts.publish(id, Buffer.from(this.frame(event, place)));
    }
    for (const connection of user.catchingUp) connection.later(event);
  }

  private store(event: StoredEvent): void {
    const { body, user } = event;
    for (const chain of CHAINS) link(this.endsOf(chain, event), event, chain);
    this.events += 1;
    this.bytes += body.length;
    user.weight += this.weightOf(event);
    if (user.weight > (this.busiest?.weight ?? 0)) this.busiest = user;
    while (this.events > this.parts.eventsMax || (this.bytes > CHARACTERS_MAX && this.events > 1)) {
      this.forget(this.leastMissed());
    }
  }

  private leastMissed(): StoredEvent {
    const { busiest, ends } = this;
    const own = busiest!.all.oldest;
    const isBusy = busiest!.weight > SHARE * CHARACTERS_MAX;
    return isBusy && own !== undefined && own !== ends.newest ? own : ends.oldest!;
  }

  private forget(event: StoredEvent): void {
    for (const chain of CHAINS) unlink(this.endsOf(chain, event), event, chain);
    const { condition, ofMarket, ofUser, user } = event;
    if (ofUser !== undefined) user.all.knownFrom = ofUser.sequence;
    user.marketStream(condition).knownFrom = ofMarket.sequence;
    this.events -= 1;
    this.bytes -= event.body.length;
    event.user.weight -= this.weightOf(event);
  }

  /** The larger part of both bounds: number or characters. */
  private weightOf({ body }: StoredEvent): number {
    return Math.max(body.length, CHARACTERS_MAX / this.parts.eventsMax);
  }

  private endsOf(chain: Chain, { condition, user }: StoredEvent): Ends {
    if (chain === Chain.all) return this.ends;
    return chain === Chain.user ? user.all : user.marketStream(condition);
  }

  frame({ body }: StoredEvent, place: Numbered): string {
    return `{${body},${envelope(place, this.parts.now())}}`;
  }

  /**
   * Messages of a stream behind a cursor, oldest first; undefined if some are not stored, or the log has not come so
   * far.
   * @param condition of the market whose stream it is; undefined = the user's stream
   */
  since(user: User, condition: string | undefined, place: Place): StoredEvent[] | undefined {
    const stream = condition === undefined ? user.all : user.ofMarket(condition);
    if (place < stream.knownFrom || place > this.place) return undefined;
    const missed: StoredEvent[] = [];
    // Follows the links from event to event, because a message may name hundreds of streams with
    // few events each.
    const chain = condition === undefined ? Chain.user : Chain.market;
    let event = stream.newest;
    while (event !== undefined) {
      // The chain of the user also has its balances, so that they make room as its other events do.
      const numbers = chain === Chain.market ? event.ofMarket : event.ofUser;
      if (numbers !== undefined && numbers.sequence <= place) break;
      if (numbers !== undefined) missed.push(event);
      event = event.links[chain].before;
    }
    return missed.reverse();
  }

  /** Messages were lost, so no client can resume: each gets an error when it tries. */
  forgetAll(): void {
    this.byWord.clear();
    this.away.clear();
    while (this.ends.oldest !== undefined) this.forget(this.ends.oldest);
    this.busiest = undefined;
    this.someFollowBalances = false;
  }
}

function numbered(stream: Stream, batch: number): Numbered {
  const { id, previous, sequence } = stream.next(batch);
  return { id, previous, sequence };
}

const unlinked = (): Link => ({ before: undefined, after: undefined });

function link(ends: Ends, event: StoredEvent, chain: Chain): void {
  const { newest } = ends;
  event.links[chain].before = newest;
  if (newest === undefined) ends.oldest = event;
  else newest.links[chain].after = event;
  ends.newest = event;
}

function unlink(ends: Ends, event: StoredEvent, chain: Chain): void {
  const link = event.links[chain];
  const { after, before } = link;
  if (before === undefined) ends.oldest = after;
  else before.links[chain].after = after;
  if (after === undefined) ends.newest = before;
  else after.links[chain].before = before;
  link.before = undefined;
  link.after = undefined;
}
