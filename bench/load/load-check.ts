/**
 * Holds the node's reading routes against the tool's own bookkeeping: POST /books, POST
 * /last-trades-prices and GET /trades.
 * Thread: the tool's only one.
 * Non-goals: trades between others, and books that others trade in during the run.
 */

import type { HttpClient } from '../../client/http.ts';
import { MICRO, microFromNumber, microFromText, microText, priceText } from './load-amounts.ts';
import { BUY, type LastTrade, SELL, type Side } from './load-book.ts';
import { ask } from './load-client.ts';
import { type Ledger, type Total, totalKey } from './load-ledger.ts';
import type { LoadMarket, LoadToken } from './load-market.ts';

interface PriceLevel {
  readonly price: string;
  readonly size: string;
}

/** The members of books and last trade prices that are compared. */
interface BookReply {
  readonly market: string;
  readonly asset_id: string;
  readonly bids: readonly PriceLevel[];
  readonly asks: readonly PriceLevel[];
  readonly min_order_size: string;
  readonly tick_size: string;
  readonly neg_risk: boolean;
  readonly last_trade_price: string;
}

interface LastPriceReply {
  readonly token_id: string;
  readonly price: string;
  readonly side: string;
}

interface TradeRow {
  readonly side: string;
  readonly asset: string;
  readonly size: number;
  readonly usdcSize: number;
}

const TOKENS_PER_REQUEST = 500; // docs/protocol.md#limits-of-a-request
const TRADES_LIMIT_MAX = 10_000; // docs/protocol.md#public-trades
const TRADES_OFFSETS = [0, 10_000];

/** Reads the books and last prices that are there before the first order, into the tool's own. */
export async function seedBooks(client: HttpClient, tokens: readonly LoadToken[]): Promise<void> {
  const books = await readBooks(client, tokens);
  for (const token of tokens) {
    const reply = books.get(token.tokenId);
    if (reply === undefined) {
      throw new Error(`the node does not know token ${token.tokenId}: is it another catalog?`);
    }
    if (token.slot !== 0) continue;
    const step = MICRO / token.market.ticksPerUnit;
    for (const [side, levels] of [[BUY, reply.bids] as const, [SELL, reply.asks] as const]) {
      for (const { price, size } of levels) {
        token.book.seed(side, microFromText(price) / step, microFromText(size));
      }
    }
  }
  const prices = await readLastPrices(client, tokens);
  for (const token of tokens) {
    const last = prices.get(token.tokenId);
    if (last === undefined) continue;
    const ticks = microFromText(last.price) / (MICRO / token.market.ticksPerUnit);
    token.book.seedLast(token.slot, { ticks, side: last.side === 'BUY' ? BUY : SELL });
  }
}

/** Every token's book, its rules included, against the naive one. */
export async function compareBooks(
  client: HttpClient,
  tokens: readonly LoadToken[],
): Promise<string[]> {
  const books = await readBooks(client, tokens);
  const differences: string[] = [];
  for (const token of tokens) {
    const { market, tokenId } = token;
    const reply = books.get(tokenId);
    const differ = (what: string, node: unknown, expected: unknown): void => {
      const values = `node ${JSON.stringify(node)}, expected ${JSON.stringify(expected)}`;
      differences.push(`/books of token ${tokenId}: ${what}: ${values}`);
    };
    if (reply === undefined) {
      differ('book', undefined, 'a book');
      continue;
    }
    const facts = [
      ['market', reply.market, market.conditionId],
      ['tick_size', reply.tick_size, priceText(1, market.ticksPerUnit)],
      ['min_order_size', reply.min_order_size, microText(market.minSizeMicro)],
      ['neg_risk', reply.neg_risk, market.negRisk],
    ] as const;
    for (const [what, node, expected] of facts) if (node !== expected) differ(what, node, expected);
    const sides = [['bids', reply.bids, BUY] as const, ['asks', reply.asks, SELL] as const];
    for (const [what, node, side] of sides) compareLevels(what, node, token, side, differ);
    const last = token.book.lastTrades(token.slot).map((trade) => lastPrice(token, trade));
    if (!last.includes(reply.last_trade_price)) {
      differ('last_trade_price', reply.last_trade_price, last.join(' or '));
    }
  }
  return differences;
}

function compareLevels(
  what: string,
  node: readonly PriceLevel[],
  token: LoadToken,
  side: Side,
  differ: (what: string, node: unknown, expected: unknown) => void,
): void {
  const own = token.book.levels(token.slot, side);
  for (let i = 0; i < Math.max(node.length, own.length); i += 1) {
    const level = own[i];
    const expected = level && {
      price: priceText(level.ticks, token.market.ticksPerUnit),
      size: microText(level.micro),
    };
    const actual = node[i];
    if (actual?.price === expected?.price && actual?.size === expected?.size) continue;
    differ(`${what}[${i}] of ${node.length} (own book: ${own.length})`, actual, expected);
    return;
  }
}

export async function compareLastPrices(
  client: HttpClient,
  tokens: readonly LoadToken[],
): Promise<string[]> {
  const prices = await readLastPrices(client, tokens);
  const differences: string[] = [];
  for (const token of tokens) {
    const reply = prices.get(token.tokenId);
    const node = reply === undefined ? 'none' : `${reply.side} at ${reply.price}`;
    const own = token.book
      .lastTrades(token.slot)
      .map((trade) =>
        trade === undefined ? 'none' : `${sideText(trade.side)} at ${lastPrice(token, trade)}`,
      );
    if (own.includes(node)) continue;
    const expected = own.join(' or ');
    differences.push(
      `/last-trades-prices of token ${token.tokenId}: node ${node}, expected ${expected}`,
    );
  }
  return differences;
}

/**
 * Per wallet, token, side and role: number of rows, shares and collateral. The taker rows are those
 * that takerOnly=true gives; what takerOnly=false gives beyond them are the maker rows
 * (docs/protocol.md#public-trades).
 */
export async function compareTrades(
  client: HttpClient,
  markets: readonly LoadMarket[],
  addresses: readonly string[],
  ledger: Ledger,
): Promise<string[]> {
  const differences: string[] = [];
  for (const [account, address] of addresses.entries()) {
    const takers = sumRows(await readTrades(client, markets, address, true));
    const all = sumRows(await readTrades(client, markets, address, false));
    for (const token of markets.flatMap((market) => market.tokens)) {
      for (const side of [BUY, SELL] as const) {
        const key = rowKey(`${token.market.conditionId}:${token.outcome}`, sideText(side));
        const taker = taken(takers, key);
        const both = taken(all, key);
        const maker = {
          rows: both.rows - taker.rows,
          shares: both.shares - taker.shares,
          collateral: both.collateral - taker.collateral,
          slack: 0,
        };
        for (const [role, node] of [['taker', taker] as const, ['maker', maker] as const]) {
          const own = ledger.totals.get(totalKey(account, token, side, role)) ?? NOTHING;
          if (agrees(node, own)) continue;
          differences.push(
            `/trades of ${address}, token ${token.tokenId}, ${role} ${sideText(side)}: ` +
              `node ${totalText(node)}, expected ${totalText(own)}`,
          );
        }
      }
    }
    for (const key of all.keys()) {
      differences.push(`/trades of ${address}: rows of ${key}, which it never traded`);
    }
  }
  return differences;
}

const NOTHING: Total = { rows: 0, shares: 0, collateral: 0, slack: 0 };

function agrees(node: Total, own: Total): boolean {
  const off = Math.abs(node.collateral - own.collateral);
  return node.rows === own.rows && node.shares === own.shares && off <= own.slack;
}

function totalText(total: Total): string {
  return `${total.rows} rows, ${microText(total.shares)} shares for ${microText(total.collateral)}`;
}

function rowKey(asset: string, side: string): string {
  return `${asset} ${side}`;
}

function sumRows(rows: readonly TradeRow[]): Map<string, Total> {
  const sums = new Map<string, Total>();
  for (const row of rows) {
    const key = rowKey(row.asset, row.side);
    const sum = sums.get(key) ?? { ...NOTHING };
    sum.rows += 1;
    sum.shares += microFromNumber(row.size);
    sum.collateral += microFromNumber(row.usdcSize);
    sums.set(key, sum);
  }
  return sums;
}

/** Takes a sum out of the map, so that only unexpected fills remain. */
function taken(sums: Map<string, Total>, key: string): Total {
  const sum = sums.get(key) ?? NOTHING;
  sums.delete(key);
  return sum;
}

/** All rows of a wallet; market by market where there are more than paging reaches. */
async function readTrades(
  client: HttpClient,
  markets: readonly LoadMarket[],
  address: string,
  takerOnly: boolean,
): Promise<TradeRow[]> {
  const query = `user=${address}&takerOnly=${takerOnly}`;
  const whole = await readPages(client, query);
  if (whole !== undefined) return whole;
  const rows: TradeRow[] = [];
  for (const { conditionId } of markets) {
    const part = await readPages(client, `${query}&market=${conditionId}`);
    if (part === undefined) {
      throw new Error(`more trades of ${address} in market ${conditionId} than paging reaches`);
    }
    rows.push(...part);
  }
  return rows;
}

/** Undefined when the last page is full: then there may be more behind the largest offset. */
async function readPages(client: HttpClient, query: string): Promise<TradeRow[] | undefined> {
  const rows: TradeRow[] = [];
  for (const offset of TRADES_OFFSETS) {
    const path = `/trades?${query}&limit=${TRADES_LIMIT_MAX}&offset=${offset}`;
    const page = (await ask(client, 'GET', path)) as TradeRow[];
    for (const row of page) rows.push(row);
    if (page.length < TRADES_LIMIT_MAX) return rows;
  }
  return undefined;
}

async function readBooks(
  client: HttpClient,
  tokens: readonly LoadToken[],
): Promise<Map<string, BookReply>> {
  const replies = (await readTokens(client, '/books', tokens)) as BookReply[];
  return new Map(replies.map((reply) => [reply.asset_id, reply]));
}

async function readLastPrices(
  client: HttpClient,
  tokens: readonly LoadToken[],
): Promise<Map<string, LastPriceReply>> {
  const replies = (await readTokens(client, '/last-trades-prices', tokens)) as LastPriceReply[];
  return new Map(replies.map((reply) => [reply.token_id, reply]));
}

async function readTokens(
  client: HttpClient,
  path: string,
  tokens: readonly LoadToken[],
): Promise<unknown[]> {
  const replies: unknown[] = [];
  for (let from = 0; from < tokens.length; from += TOKENS_PER_REQUEST) {
    const part = tokens.slice(from, from + TOKENS_PER_REQUEST);
    const body = JSON.stringify(part.map(({ tokenId }) => ({ token_id: tokenId })));
    replies.push(...((await ask(client, 'POST', path, {}, body)) as unknown[]));
  }
  return replies;
}

function lastPrice(token: LoadToken, trade: LastTrade | undefined): string {
  return trade === undefined ? '' : priceText(trade.ticks, token.market.ticksPerUnit);
}

function sideText(side: Side): string {
  return side === BUY ? 'BUY' : 'SELL';
}
