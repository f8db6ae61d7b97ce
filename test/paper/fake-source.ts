/**
 * A faulty venue: books over real HTTP, their stream over real WebSockets. It speaks the public
 * form, or that of this node with stream cursors.
 */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TestContext } from 'node:test';
import { type WebSocket, WebSocketServer } from 'ws';
import { type CatalogMarket, readCatalog } from '../../storage/catalog/catalog-file.ts';
import { catalogFile, type MarketTerms } from '../common/node-harness.ts';

type Side = 'BUY' | 'SELL';
/** Sizes by price, as texts. */
type Levels = Map<string, string>;

interface FakeBook {
  readonly bids: Levels;
  readonly asks: Levels;
  at: number;
  /** Stream sequence of its last message. */
  sequence: number;
}

export class FakeVenue {
  port = 0;
  /** True: it sends nothing, and reads nothing. */
  isMute = false;
  /** True: hashes follow the node's own rule. */
  makesHashes = false;
  hasPlaces = false;
  /** True: lists of markets have a full page at any offset. */
  repeatsPages = false;
  /** Replaces the answer about books. */
  snapshot: ((json: Record<string, unknown>) => Record<string, unknown>) | undefined;
  /** Answers, made from earlier books, leave once it resolves. */
  held: Promise<void> = Promise.resolve();
  /** Selects requests for books that are answered with an error. */
  refuses: ((tokens: readonly string[]) => boolean) | undefined;
  readonly asked: string[][] = [];
  /** Delays events of its catalog, like `held`. */
  heldEvents: Promise<void> = Promise.resolve();
  connections = 0;
  /** Catalog members of a market beside its terms, by condition id. */
  readonly said = new Map<string, Readonly<Record<string, unknown>>>();
  readonly markets: CatalogMarket[] = [];
  private readonly books = new Map<string, FakeBook>();
  private readonly sockets = new Map<WebSocket, Set<string>>();
  private readonly http = createServer((request, response) => void this.answer(request, response));
  private readonly stream = new WebSocketServer({ noServer: true, autoPong: false });
  private unread: (() => void)[] = [];
  private now = 1_750_000_000_000;

  private readonly events: { readonly id: string }[] = [];

  private constructor(markets: number) {
    for (let i = 0; i < markets; i++) this.list();
    this.http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.stream.handleUpgrade(request, socket, head, (opened) => this.opened(opened));
    });
  }

  static async start(t: TestContext, markets = 1): Promise<FakeVenue> {
    const venue = new FakeVenue(markets);
    venue.http.listen(0, '127.0.0.1');
    await once(venue.http, 'listening');
    venue.port = (venue.http.address() as AddressInfo).port;
    t.after(() => venue.close());
    return venue;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get streamUrl(): string {
    return `ws://127.0.0.1:${this.port}/ws/market`;
  }

  get snapshots(): number {
    return this.asked.length;
  }

  get subscriptions(): number[] {
    return [...this.sockets.values()].map(({ size }) => size).filter((size) => size > 0);
  }

  list(terms: Partial<MarketTerms> = {}): CatalogMarket {
    const file = catalogFile([{ id: this.markets.length + 1, ...terms }]) as {
      events: { id: string }[];
    };
    const read = readCatalog(file);
    assert(read.ok);
    const [market] = read.catalog.markets as [CatalogMarket];
    this.markets.push(market);
    this.events.push(...file.events);
    for (const token of market.tokenIds) {
      this.books.set(token, { bids: new Map(), asks: new Map(), at: this.now, sequence: 1 });
    }
    return market;
  }

  pass(ms: number): void {
    this.now += ms;
  }

  /** `size@price` of each level, in ascending order of prices. */
  levels(token: string): { readonly bids: string[]; readonly asks: string[] } {
    const texts = (levels: Levels): string[] =>
      [...levels].map(([price, size]) => `${size}@${price}`).sort();
    const { asks, bids } = this.books.get(token)!;
    return { bids: texts(bids), asks: texts(asks) };
  }

  /** Changes levels, and sends messages of the newer or of the older form. */
  change(
    token: string,
    changes: readonly (readonly [side: Side, price: string, size: string])[],
    { isOld = false, isSilent = false } = {},
  ): void {
    const book = this.set(token, changes);
    if (isSilent) return;
    const texts = changes.map(([side, price, size]) => ({ side, price, size }));
    const common = { event_type: 'price_change', timestamp: String(book.at), market: 'x' };
    if (isOld) this.send(token, { ...common, asset_id: token, changes: texts });
    else {
      const ofAsset = texts.map((text) => ({ ...text, asset_id: token }));
      this.send(token, { ...common, price_changes: ofAsset });
    }
  }

  print(token: string, side: Side, price: string, size: string): void {
    this.send(token, {
      event_type: 'last_trade_price',
      asset_id: token,
      market: 'x',
      side,
      price,
      size,
      timestamp: String(this.now),
    });
  }

  sendBook(token: string, other: Readonly<Record<string, unknown>> = {}): void {
    this.send(token, { event_type: 'book', ...this.json(token), ...other });
  }

  /** Sends one message to followers of the token, with the next stream cursor where it has them. */
  send(token: string, message: Readonly<Record<string, unknown>>): void {
    const previous = this.books.get(token)!.sequence;
    const place = {
      stream_id: `asset:${token}`,
      sequence: String(this.lose(token)).padStart(19, '0'),
      previous: String(previous).padStart(19, '0'),
    };
    this.sendText(token, JSON.stringify(this.hasPlaces ? { ...message, ...place } : message));
  }

  /** Skips a message; returns its stream sequence. */
  lose(token: string): number {
    const book = this.books.get(token)!;
    book.sequence += 1;
    return book.sequence;
  }

  sendText(token: string, text: string): void {
    if (this.isMute) return;
    for (const [socket, tokens] of this.sockets) if (tokens.has(token)) socket.send(text);
  }

  tellAll(message: object): void {
    for (const socket of this.sockets.keys()) socket.send(JSON.stringify(message));
  }

  isFollowed(token: string): boolean {
    return [...this.sockets.values()].some((tokens) => tokens.has(token));
  }

  unmute(): void {
    this.isMute = false;
    for (const read of this.unread.splice(0)) read();
  }

  dropConnections(): void {
    for (const socket of this.sockets.keys()) socket.terminate();
  }

  private close(): void {
    this.dropConnections();
    this.http.closeAllConnections();
    this.http.close();
  }

  private set(
    token: string,
    changes: readonly (readonly [side: Side, price: string, size: string])[],
  ): FakeBook {
    const book = this.books.get(token)!;
    this.now += 1;
    book.at = this.now;
    for (const [side, price, size] of changes) {
      const levels = side === 'BUY' ? book.bids : book.asks;
      if (size === '0') levels.delete(price);
      else levels.set(price, size);
    }
    return book;
  }

  private opened(socket: WebSocket): void {
    this.connections += 1;
    const tokens = new Set<string>();
    this.sockets.set(socket, tokens);
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('ping', () => {
      if (!this.isMute) socket.pong();
    });
    const take = (text: string): void => {
      if (this.isMute) this.unread.push(() => take(text));
      else if (text === 'PING') socket.send('PONG');
      else this.subscribe(socket, tokens, JSON.parse(text) as { assets_ids: string[] });
    };
    socket.on('message', (data) => take(String(data)));
  }

  private subscribe(
    socket: WebSocket,
    tokens: Set<string>,
    request: { readonly assets_ids: readonly string[]; readonly operation?: string },
  ): void {
    const { assets_ids: ids, operation } = request;
    if (operation === 'unsubscribe') {
      for (const id of ids) tokens.delete(id);
      return;
    }
    const known = ids.filter((id) => this.books.has(id));
    for (const id of known) tokens.add(id);
    const first = known.map((id) => ({ event_type: 'book', ...this.json(id) }));
    if (first.length > 0) socket.send(JSON.stringify(first));
  }

  private json(token: string): Record<string, unknown> {
    const { asks, at, bids } = this.books.get(token)!;
    const texts = (levels: Levels) => [...levels].map(([price, size]) => ({ price, size }));
    const book: Record<string, unknown> = {
      market: 'x',
      asset_id: token,
      timestamp: String(at),
      hash: '',
      bids: texts(bids),
      asks: texts(asks),
      min_order_size: '5',
      tick_size: '0.01',
      neg_risk: false,
      last_trade_price: '',
    };
    if (this.makesHashes) {
      book.hash = createHash('sha1').update(JSON.stringify(book)).digest('hex');
    }
    return book;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://venue');
    response.setHeader('content-type', 'application/json');
    if (pathname === '/books') {
      const items = JSON.parse(Buffer.concat(chunks).toString()) as { token_id: string }[];
      const tokens = items.map(({ token_id: token }) => token);
      this.asked.push(tokens);
      const books = tokens.map((token) => this.json(token));
      await this.held;
      if (this.refuses?.(tokens) === true) response.statusCode = 429;
      response.end(JSON.stringify(books.map((book) => this.snapshot?.(book) ?? book)));
    } else if (pathname.startsWith('/events/')) {
      const event = this.events.find(({ id }) => pathname === `/events/${id}`);
      const markets = (event as unknown as { markets: { conditionId: string }[] }).markets;
      const said = markets.map((one) => ({ ...one, ...this.said.get(one.conditionId) }));
      await this.heldEvents;
      response.end(JSON.stringify({ ...event, markets: said }));
    } else if (pathname === '/events') {
      response.end(JSON.stringify(pageOf(this.events, searchParams)));
    } else if (pathname !== '/markets') {
      response.end('[]');
    } else {
      response.end(JSON.stringify(this.listed(searchParams)));
    }
  }

  private listed(query: URLSearchParams): object[] {
    if (this.repeatsPages) return Array.from({ length: Number(query.get('limit')) }, () => ({}));
    const conditions = query.getAll('condition_ids');
    const isClosed = query.get('closed') === 'true';
    const found = this.markets
      .filter(({ conditionId }) => conditions.length === 0 || conditions.includes(conditionId))
      .map(({ conditionId, eventId, tokenIds }) => ({
        conditionId,
        events: [{ id: eventId }],
        clobTokenIds: JSON.stringify(tokenIds),
        closed: false,
        ...this.said.get(conditionId),
      }))
      .filter(({ closed }) => closed === isClosed);
    return pageOf(found, query);
  }
}

function pageOf<T>(rows: readonly T[], query: URLSearchParams): T[] {
  const offset = Number(query.get('offset') ?? 0);
  return rows.slice(offset, offset + Number(query.get('limit') ?? 100));
}
