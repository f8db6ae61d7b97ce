/**
 * Connection of /ws/user: its credentials, its markets, and missed messages.
 *
 * Thread: the I/O thread.
 */

import { timingSafeEqual } from 'node:crypto';
import { ledgerIsOn } from '../../engine/ledger/reads.ts';
import { ADDRESS_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { wholeCondition } from '../../storage/catalog/condition-ids.ts';
import type { Credential } from '../auth/key-registry.ts';
import { bytesToWords } from '../common/uint256.ts';
import { marketByCondition } from '../market-data/find.ts';
import type { CloseName } from './closes.ts';
import {
  Connection,
  type ConnectionParts,
  type Handling,
  NAMES_A_PIECE,
  readMessage,
} from './connection.ts';
import { invalid, type Problem, type UserMessageFields, userMessage } from './messages.ts';
import { type Place, placeFrom } from './numbering.ts';
import { OrderClient, type OrderRequestParts } from './order-requests.ts';
import {
  BALANCES,
  type CatchingUp,
  CHARACTERS_MAX,
  EVENTS_MAX,
  type ReplayBuffer,
  type StoredEvent,
  type User,
} from './replay-buffer.ts';
import { FRAME_ID_MAX, readRequestFrame } from './request-frames.ts';

export interface UserChannelParts {
  readonly replayBuffer: ReplayBuffer;
  readonly tables: Tables;
  /** Active keys by their lower-case text. */
  readonly lookup: (apiKey: string) => Credential | undefined;
  readonly lookupReadOnly: (key: string) => { readonly address: Uint8Array } | undefined;
  /** Absent if this node issues all keys. */
  readonly keyComes?: KeyComes | undefined;
  /** Absent where the stream takes no orders. */
  readonly orders?: OrderRequestParts | undefined;
}

/**
 * Waits for a key that another node issued a moment ago: resolves once `isKnown`, or after a time limit. Returns
 * undefined while this node issues all keys.
 */
export type KeyComes = (isKnown: () => boolean) => Promise<void> | undefined;

interface KeyHolder {
  readonly address: Uint8Array;
  readonly isActive: () => boolean;
  /** Undefined of a read-only key. */
  readonly credential: Credential | undefined;
}

const SECRET_BYTES = 32;
const PASSPHRASE = /^[0-9a-f]{64}$/i;
/** Replaces the secret of an unknown key, so that the check takes as long. */
const NOTHING = Buffer.alloc(SECRET_BYTES);

const WRONG_KEY: Problem = {
  error: 'invalid_auth',
  detail: 'unknown key, wrong secret or wrong passphrase',
};
const OTHER_KEY: Problem = {
  error: 'invalid_auth',
  detail: 'a connection belongs to one wallet',
};
const WRONG_ID = invalid(
  `id must be a text of 1 to ${FRAME_ID_MAX} printable ASCII characters without \\`,
);
const NO_AUTH: Problem = { error: 'invalid_auth', detail: 'auth is needed' };

/** Seconds until credentials are required, because a connection occupies one of a limited number. */
export const AUTH_SECONDS = 10;
const MS = 1_000;

/** Missed messages that cost as much as the look-up of one name. */
const MISSED_PER_NAME = 16;

/** Messages that may wait for a connection that catches up: all stored ones, and as many new ones. */
const DUE_MAX = 2 * EVENTS_MAX;
/** Characters of the new ones, which may exist only in this queue. */
const ARRIVED_MAX = CHARACTERS_MAX / 4;

/** Name of the stream of all markets among condition ids. */
const ALL = '';

export class UserConnection extends Connection implements CatchingUp {
  private readonly channel: UserChannelParts;
  private readonly orders: OrderClient | undefined;
  private isActive: () => boolean = () => true;
  /** Address of the wallet, once its credentials are checked. */
  private address: Int32Array | undefined;
  /** Set by the first subscription: a wallet that follows nothing costs no events. */
  private user: User | undefined;
  /** Conditions, or ALL in place of them; and BALANCES. */
  private readonly followed = new Set<string>();
  /** Followed names whose topic it has joined. For the others it catches up. */
  private readonly joined = new Set<string>();
  /** Messages to be sent before the topics are joined. */
  private due: { readonly event: StoredEvent; readonly name: string }[] = [];
  private sent = 0;
  /** Characters of the messages that arrived since it began to catch up. */
  private arrived = 0;

  constructor(parts: UserChannelParts, connection: ConnectionParts) {
    super(connection);
    this.channel = parts;
    const { frames, from, socket } = connection;
    this.orders = parts.orders && new OrderClient(parts.orders, from, frames, socket);
  }

  override reasonToGo(now: number): { readonly why: CloseName; readonly text: string } | undefined {
    if (!this.isActive()) return { why: 'revoked', text: 'the API key was revoked' };
    if (this.address !== undefined || now - this.openedAt < AUTH_SECONDS * MS) return undefined;
    return { why: 'no_auth', text: `no valid auth within ${AUTH_SECONDS} seconds` };
  }

  later(event: StoredEvent): void {
    const streams = event.condition === BALANCES ? [BALANCES] : [ALL, event.condition];
    const name = streams.find((one) => this.followed.has(one));
    if (name === undefined || this.joined.has(name)) return;
    this.due.push({ event, name });
    this.arrived += event.body.length;
    const isMuch = this.arrived > ARRIVED_MAX || this.due.length - this.sent > DUE_MAX;
    if (isMuch) this.end('slow_reader', 'slow reader');
  }

  protected override takesRequest(bytes: Buffer): boolean {
    const { orders } = this;
    const frame = orders && readRequestFrame(bytes);
    if (orders === undefined || frame === undefined) return false;
    if (this.address === undefined) this.sendProblem(NO_AUTH);
    else if (frame.id === undefined) this.sendProblem(WRONG_ID);
    else orders.take(frame.operation, frame.id, frame.body);
    return true;
  }

  protected override *receive(text: string): Handling {
    const read = readMessage(text, userMessage, 'user');
    if ('problem' in read) return read.problem;
    const { message } = read;
    const problem = yield* this.identify(message);
    if (problem !== undefined) return problem;
    const markets = [
      ...new Set((message.markets ?? []).map((text) => wholeCondition(text.toLowerCase()))),
    ];
    if (!this.mayLookUp(markets.length + (message.resume?.length ?? 0))) return undefined;
    const isOff = message.operation === 'unsubscribe';
    const unknown: string[] = [];
    const failed = isOff
      ? this.unsubscribe(markets)
      : yield* this.subscribe(markets, message, unknown);
    if (failed !== undefined) return failed;
    const followed = [...this.followed].filter((name) => name !== BALANCES);
    this.acknowledge(
      message,
      {
        operation: isOff ? 'unsubscribe' : 'subscribe',
        known: String(markets.length - unknown.length),
        following: followed.includes(ALL) ? 'all' : String(followed.length),
      },
      unknown,
    );
    return undefined;
  }

  protected override hasDue(): boolean {
    return this.user?.catchingUp.has(this) === true;
  }

  protected override sendNext(): boolean {
    const next = this.due[this.sent];
    if (next !== undefined) {
      this.sent += 1;
      const { event, name } = next;
      const place = name === ALL ? event.ofUser! : event.ofMarket;
      this.socket.send(this.channel.replayBuffer.frame(event, place));
      return true;
    }
    this.due = [];
    this.sent = 0;
    this.arrived = 0;
    for (const name of this.followed) this.join(name);
    this.user?.catchingUp.delete(this);
    return false;
  }

  protected override forget(): void {
    const { orders, user } = this;
    if (orders !== undefined) orders.isClosed = true;
    if (user === undefined) return;
    for (const name of this.joined) user.countJoined(this.topicOf(name), -1);
    this.joined.clear();
    this.followed.clear();
    user.catchingUp.delete(this);
    this.channel.replayBuffer.leave(user);
    this.user = undefined;
  }

  private *identify({ auth }: UserMessageFields): Handling {
    if (auth === undefined) {
      return this.address === undefined ? NO_AUTH : undefined;
    }
    const { keyComes, lookup, lookupReadOnly } = this.channel;
    const key = keyOf(auth);
    const isKnown = (): boolean => lookup(key) !== undefined || lookupReadOnly(key) !== undefined;
    if (!isKnown()) yield keyComes?.(isKnown);
    const found = this.find(auth);
    if (found === undefined) return WRONG_KEY;
    const address = bytesToWords(found.address, new Int32Array(ADDRESS_WORDS));
    if (this.address?.some((word, i) => word !== address[i]) === true) return OTHER_KEY;
    this.address = address;
    this.isActive = found.isActive;
    this.orders?.identified(found);
    this.identified(found.credential === undefined ? '' : key, found.address);
    return undefined;
  }

  /** Owner of the key: the secrets of an API key are checked; a read-only key is itself the secret. */
  private find(auth: NonNullable<UserMessageFields['auth']>): KeyHolder | undefined {
    const { lookup, lookupReadOnly } = this.channel;
    const key = keyOf(auth);
    if (auth.secret === undefined && auth.passphrase === undefined) {
      const found = lookupReadOnly(key);
      const isActive = (): boolean => lookupReadOnly(key) !== undefined;
      return found && { address: found.address, isActive, credential: undefined };
    }
    const found = lookup(key);
    const secret = Buffer.from(auth.secret ?? '', 'base64');
    const text = auth.passphrase ?? '';
    const passphrase = PASSPHRASE.test(text) ? Buffer.from(text, 'hex') : NOTHING;
    const isSecret = isSame(secret, found?.secret ?? NOTHING);
    const isRight = isSame(passphrase, found?.passphrase ?? NOTHING) && isSecret;
    if (found === undefined || !isRight) return undefined;
    const isActive = (): boolean => lookup(key) !== undefined;
    return { address: found.address, isActive, credential: found };
  }

  /** @param unknown receives the unknown markets */
  private *subscribe(
    markets: readonly string[],
    message: UserMessageFields,
    unknown: string[],
  ): Handling {
    this.user ??= this.channel.replayBuffer.enter(this.address!);
    const resumePoints = resumePointsOf(message);
    if (resumePoints === undefined) return invalid('stream_id and sequence go together');
    const isAll = markets.length === 0 || this.followed.has(ALL);
    const added: string[] = isAll ? [ALL] : [];
    for (const [i, text] of markets.entries()) {
      if (i % NAMES_A_PIECE === NAMES_A_PIECE - 1) yield;
      const isKnown = marketByCondition(this.channel.tables, text) !== 0;
      if (!isKnown) unknown.push(text);
      else if (!isAll) added.push(text);
    }
    const { subscriptionsMax } = this.limits;
    const total = new Set([...this.followed, ...added, BALANCES]).size - 1;
    if (total > subscriptionsMax) {
      const detail = `a connection follows at most ${subscriptionsMax} markets`;
      return { error: 'too_many_subscriptions', detail };
    }
    if (isAll) this.drop([...this.followed].filter((name) => name !== ALL && name !== BALANCES));
    if (message.custom_feature_enabled === true && ledgerIsOn(this.channel.tables)) {
      this.channel.replayBuffer.followBalances(this.user!);
      added.push(BALANCES);
    }
    // A client that names an earlier place than that of a stream which it already follows has an
    // unknown state, so the stream begins again at the named place.
    this.drop(added.filter((name) => this.isBehind(name, resumePoints)));
    // From now on it receives new events, also between two pieces.
    this.user!.catchingUp.add(this);
    for (const [i, name] of added.entries()) {
      if (i % NAMES_A_PIECE === NAMES_A_PIECE - 1) yield;
      const isNew = !this.followed.has(name);
      this.followed.add(name);
      const wantsResume = message.resume !== undefined || resumePoints.size > 0;
      if (wantsResume && !this.resume(name, resumePoints, isNew)) return undefined;
    }
    return undefined;
  }

  private isBehind(name: string, resumePoints: ResumePoints): boolean {
    if (resumePoints.size === 0) return false;
    const { id, sequence } = this.streamOf(name);
    return (resumePoints.get(id) ?? sequence) < sequence;
  }

  /**
   * Sends the cursor of a stream and queues the missed messages. Returns false if they were too many and the
   * connection is closed.
   */
  private resume(name: string, resumePoints: ResumePoints, isNew: boolean): boolean {
    const { replayBuffer } = this.channel;
    const user = this.user!;
    const condition = name === ALL ? undefined : name;
    const { id } = this.streamOf(name);
    const { place: sequence } = replayBuffer;
    const resumePoint = resumePoints.get(id);
    const missed =
      resumePoint === undefined ? undefined : replayBuffer.since(user, condition, resumePoint);
    if (missed === undefined && resumePoints.size > 0) {
      const detail = 'the node does not have all events behind that place';
      const problem: Problem = { error: 'resume_unavailable', detail, stream_id: id };
      this.socket.send(JSON.stringify({ ...problem, sequence }));
      return true;
    }
    // A connection that already follows the stream has missed nothing.
    const due = isNew ? (missed ?? []) : [];
    if (!this.mayLookUp(due.length / MISSED_PER_NAME)) return false;
    const resumed = { event_type: 'resumed', stream_id: id, sequence };
    this.socket.send(JSON.stringify({ ...resumed, missed: String(due.length) }));
    for (const event of due) this.due.push({ event, name });
    return true;
  }

  private unsubscribe(markets: readonly string[]): Problem | undefined {
    if (markets.length > 0 && this.followed.has(ALL)) {
      return invalid('all markets are followed, not single ones');
    }
    this.drop(markets.length === 0 ? [...this.followed] : markets);
    return undefined;
  }

  private join(name: string): void {
    if (this.joined.has(name)) return;
    this.joined.add(name);
    const topic = this.topicOf(name);
    this.user!.countJoined(topic, 1);
    this.socket.join(topic);
  }

  private drop(names: readonly string[]): void {
    const unsent = new Set<string>();
    for (const name of names) {
      if (!this.followed.delete(name)) continue;
      if (!this.joined.delete(name)) {
        unsent.add(name);
        continue;
      }
      const topic = this.topicOf(name);
      this.user!.countJoined(topic, -1);
      this.socket.leave(topic);
    }
    if (unsent.size === 0) return;
    // Their missed events are not sent any more, because a new subscription would send them again.
    this.due = this.due.slice(this.sent).filter(({ name }) => !unsent.has(name));
    this.sent = 0;
  }

  private topicOf(name: string): string {
    return this.streamOf(name).id;
  }

  private streamOf(name: string): ReturnType<User['ofMarket']> {
    return name === ALL ? this.user!.all : this.user!.ofMarket(name);
  }
}

type ResumePoints = ReadonlyMap<string, Place>;

/**
 * Returns undefined if a message contains only half of a cursor. Of several cursors for one stream the first counts.
 */
function resumePointsOf({
  resume,
  sequence,
  stream_id,
}: UserMessageFields): ResumePoints | undefined {
  if ((sequence === undefined) !== (stream_id === undefined)) return undefined;
  const resumePoints = new Map<string, Place>();
  const single = sequence === undefined ? [] : [{ stream_id: stream_id!, sequence }];
  for (const resumePoint of [...(resume ?? []), ...single]) {
    if (!resumePoints.has(resumePoint.stream_id))
      resumePoints.set(resumePoint.stream_id, placeFrom(resumePoint.sequence));
  }
  return resumePoints;
}

function keyOf({ apiKey, apikey }: NonNullable<UserMessageFields['auth']>): string {
  return (apiKey ?? apikey ?? '').toLowerCase();
}

function isSame(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
