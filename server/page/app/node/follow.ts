/**
 * The market stream of what is on the screen: quotes of all its tokens, books and trades. Views name the tokens that
 * they show; the stream is opened again with a new set, and the one before it stays until the new one is complete.
 */
import { batch, type Signal, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type Book, type MarketStream, UnknownTokenError } from '../../../../client/client.ts';
import type { MarketEvent } from '../../../../client/types.ts';
import { clockText } from '../format.ts';
import { publicClient } from './api.ts';

export interface Quote {
  /** Best prices, 0 to 1; undefined where nothing rests on the side. */
  readonly bid: number | undefined;
  readonly ask: number | undefined;
  /** Price of the last trade; undefined before the first one. */
  readonly last: number | undefined;
}

export interface Level {
  readonly price: number;
  readonly size: number;
}

/** Levels with the best one first. */
export interface Levels {
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

export interface TapeTrade {
  /** Unix milliseconds. */
  readonly at: number;
  /** Text of that time, because making it takes longer than the rest. */
  readonly time: string;
  readonly price: number;
  readonly size: number;
  /** True when the taker sold. */
  readonly isSell: boolean;
}

type TradeListener = (tokenId: string, trade: TapeTrade) => void;

const NOTHING: Quote = { bid: undefined, ask: undefined, last: undefined };
const SETTLE_MS = 60;
/** Shortest time between two drawings of books. */
const BOOKS_MS = 80;
/** Shortest time between two drawings of trades, which move each row of the tape. */
const TRADES_MS = 250;
const RETRY_MS = 2_000;

/** `idle`: nothing on the screen has a book. `live`: all books on it are complete and follow the node. */
export const connection = signal<'idle' | 'connecting' | 'live' | 'away'>('idle');

const users = new Map<string, number>();
const quotes = new Map<string, Signal<Quote>>();
const versions = new Map<string, Signal<number>>();
const changed = new Set<string>();
/** Levels by token since its last drawing. */
const drawn = new Map<string, Levels>();
/** Trades since their last drawing, oldest first. */
let traded: { readonly tokenId: string; readonly trade: TapeTrade }[] = [];
const tradeListeners = new Set<TradeListener>();
const endListeners = new Set<() => void>();
/** Tokens without a book: those of a market that takes no orders yet. */
const bookless = new Set<string>();

let stream: MarketStream | undefined;
let wanted = '';
let settling = false;
const drawBooks = atMostEvery(BOOKS_MS, () => {
  const tokens = [...changed];
  changed.clear();
  for (const token of tokens) refresh(token, stream?.book(token));
});
const drawTrades = atMostEvery(TRADES_MS, () => {
  const added = traded;
  traded = [];
  for (const { tokenId, trade } of added) {
    for (const listener of tradeListeners) listener(tokenId, trade);
  }
});

export function quoteOf(tokenId: string): Signal<Quote> {
  return kept(quotes, tokenId, NOTHING);
}

/** Rises with each change of the book of a token; read `levelsOf` then. */
export function bookVersion(tokenId: string): Signal<number> {
  return kept(versions, tokenId, 0);
}

/** Levels of a book as it was drawn last; undefined before it is known. */
export function levelsOf(tokenId: string): Levels | undefined {
  const book = stream?.book(tokenId);
  const known = drawn.get(tokenId);
  if (book === undefined || known !== undefined) return book && known;
  const levels = {
    bids: book.bids.map(numbers).reverse(),
    asks: book.asks.map(numbers).reverse(),
  };
  drawn.set(tokenId, levels);
  return levels;
}

/** Calls back with each trade of the stream, until the returned function is called. */
export function onTrade(listener: TradeListener): () => void {
  tradeListeners.add(listener);
  return () => tradeListeners.delete(listener);
}

/** Calls back when a market resolves, or its terms change. */
export function onMarketChange(listener: () => void): () => void {
  endListeners.add(listener);
  return () => endListeners.delete(listener);
}

/** Follows tokens while a component is shown. */
export function useTokens(tokens: readonly string[]): void {
  const names = tokens.join();
  useEffect(() => {
    const own = names === '' ? [] : names.split(',');
    for (const token of own) users.set(token, (users.get(token) ?? 0) + 1);
    settle();
    return () => {
      for (const token of own) {
        const left = (users.get(token) ?? 1) - 1;
        if (left > 0) users.set(token, left);
        else users.delete(token);
      }
      settle();
    };
  }, [names]);
}

function settle(): void {
  if (settling) return;
  settling = true;
  setTimeout(() => {
    settling = false;
    void reopen();
  }, SETTLE_MS);
}

async function reopen(): Promise<void> {
  const tokens = [...users.keys()].filter((token) => !bookless.has(token));
  const names = tokens.join();
  if (names === wanted) return;
  wanted = names;
  const before = stream;
  if (tokens.length === 0) {
    stream = undefined;
    before?.close();
    connection.value = 'idle';
    return;
  }
  if (before === undefined) connection.value = 'connecting';
  try {
    const client = await publicClient();
    const next: { stream?: MarketStream } = {};
    const opened = await client.followMarket(tokens, {
      event: (event, book) => {
        if (next.stream === stream || stream === before) take(event, book);
      },
      gap: () => {
        if (next.stream === stream) connection.value = 'away';
      },
      synced: () => {
        connection.value = 'live';
        for (const token of tokens) note(token);
      },
      refused: () => {
        if (next.stream === stream) connection.value = 'away';
      },
    });
    if (wanted !== names) {
      opened.close();
      return;
    }
    next.stream = opened;
    stream = opened;
    before?.close();
    for (const token of tokens) refresh(token, opened.book(token));
    connection.value = 'live';
  } catch (error) {
    if (wanted !== names) return;
    wanted = '';
    if (error instanceof UnknownTokenError) {
      bookless.add(error.tokenId);
      settle();
      return;
    }
    connection.value = 'away';
    setTimeout(settle, RETRY_MS);
  }
}

function take(event: MarketEvent, book: Book | undefined): void {
  switch (event.event_type) {
    case 'price_change':
      for (const { asset_id } of event.price_changes) note(asset_id);
      return;
    case 'last_trade_price': {
      const at = Number(event.timestamp);
      const trade = {
        at,
        time: clockText(at),
        price: Number(event.price),
        size: Number(event.size),
        isSell: event.side === 'SELL',
      };
      traded.push({ tokenId: event.asset_id, trade });
      drawTrades();
      note(event.asset_id);
      return;
    }
    case 'market_resolved':
    case 'new_market':
    case 'tick_size_change':
      for (const listener of endListeners) listener();
      return;
    default:
      if (book !== undefined) note(book.tokenId);
  }
}

/** Marks a book as changed: it is read once, in the next drawing. */
function note(token: string): void {
  changed.add(token);
  drawBooks();
}

/** Returns a function that draws after a while, once for all of its calls until then. */
function atMostEvery(ms: number, draw: () => void): () => void {
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      isDue = false;
      batch(draw);
    }, ms);
  };
}

function refresh(token: string, book: Book | undefined): void {
  if (book === undefined) return;
  drawn.delete(token);
  const quote = quoteOf(token);
  const next = {
    bid: numberOf(book.bestBid),
    ask: numberOf(book.bestAsk),
    last: numberOf(book.lastTradePrice),
  };
  const { ask, bid, last } = quote.peek();
  if (bid !== next.bid || ask !== next.ask || last !== next.last) quote.value = next;
  bookVersion(token).value += 1;
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined || text === '' || text === '0' ? undefined : Number(text);
}

function numbers({ price, size }: { readonly price: string; readonly size: string }): Level {
  return { price: Number(price), size: Number(size) };
}

function kept<T>(all: Map<string, Signal<T>>, key: string, first: T): Signal<T> {
  let found = all.get(key);
  if (found === undefined) {
    found = signal(first);
    all.set(key, found);
  }
  return found;
}
