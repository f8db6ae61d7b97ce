/** `book`: draws a book of a running node, again whenever it changes. */

import { setTimeout as sleep } from 'node:timers/promises';
import { textList } from '../../storage/catalog/catalog-json.ts';
import { tradedTokens } from '../../storage/catalog/market-form.ts';
import { aligned, type Paint, type Piece } from '../common/terminal.ts';
import { type Context, Refused, type Run } from './context.ts';
import { answerOf, baseOf } from './node-request.ts';
import { marketOf, numberOf, textOf, tokenOf } from './settings.ts';

interface Level {
  readonly price: string;
  readonly size: string;
}

interface Book {
  readonly hash: string;
  readonly timestamp: string;
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
  readonly tick_size: string;
  readonly last_trade_price: string;
}

const WATCH_MS = 250;
const BAR_WIDTH = 30;
const LEVELS = 10;

interface ApiMarket {
  readonly question: string;
  readonly outcomes: string;
  readonly clobTokenIds: string;
  readonly version?: string;
  readonly positionIds?: readonly string[];
}

interface Named {
  readonly token: string;
  /** `undefined` when the catalog does not list the token. */
  readonly title: string | undefined;
}

/** Token ids have more digits than numbers of markets. */
const TOKEN_ID = /^\d{16,}$/;

export const book: Run = async (context, [what = '', outcome], options) => {
  const { paint, signal, stdout } = context;
  const levels = numberOf(textOf(options, 'levels') ?? String(LEVELS), '--levels', 1);
  const base = baseOf(context, options, (config) => config);
  const { title, token } = await named(context, base, what, outcome);
  const url = new URL(`/book?token_id=${token}`, base);
  let seen: string | undefined;
  let isOpen = true;
  do {
    const read = await answerOf<Book>(url, signal);
    if (read.hash + read.timestamp !== seen) {
      const lines = drawn(read, levels, paint);
      const head = title === undefined ? [] : [paint.bold(title)];
      isOpen = await stdout.redraw([...head, ...lines], seen === undefined);
      seen = read.hash + read.timestamp;
    }
    if (options.watch === true) await sleep(WATCH_MS, undefined, { signal }).catch(() => undefined);
  } while (options.watch === true && isOpen && !signal.aborted);
  return 'done';
};

async function named(
  { signal }: Context,
  base: string,
  what: string,
  outcome: string | undefined,
): Promise<Named> {
  const isToken = TOKEN_ID.test(what);
  if (isToken && outcome !== undefined)
    throw new Refused('a token is of one outcome: leave it out');
  const url = new URL('/gamma/markets', base);
  url.searchParams.set(isToken ? 'clob_token_ids' : parameterOf(what), marketOf(what));
  const [market, ...others] = await answerOf<readonly ApiMarket[]>(url, signal);
  if (others.length > 0) throw new Error(`several markets have the slug "${what}"`);
  if (market === undefined) {
    if (isToken) return { token: tokenOf(what), title: undefined };
    throw new Error(`no market has the condition id, number or slug "${what}"`);
  }
  const [names, tokens] = [market.outcomes, tradedTokens(market)].map(
    (list) => textList(list) ?? [],
  );
  const place = isToken ? tokens!.indexOf(what) : outcomeAt(names!, outcome);
  return { token: tokens![place]!, title: `${market.question} ${names![place]}` };
}

function parameterOf(market: string): string {
  if (/^0x/i.test(market)) return 'condition_id';
  return /^\d+$/.test(market) ? 'id' : 'slug';
}

function outcomeAt(names: readonly string[], outcome: string | undefined): number {
  if (outcome === undefined) return 0;
  const place = names.findIndex((name) => name.toLowerCase() === outcome.toLowerCase());
  if (place === -1) throw new Refused(`OUTCOME must be one of ${names.join(', ')}`);
  return place;
}

/** Asks above bids, best prices in the middle. A bar is the size from the best price on. */
function drawn(read: Book, count: number, paint: Paint): Piece[] {
  const asks = summed(read.asks, count);
  const bids = summed(read.bids, count);
  const most = Math.max(1e-6, ...[...asks, ...bids].map(({ sum }) => sum));
  const decimals = read.tick_size.split('.')[1]?.length ?? 0;
  const cells = [...asks.toReversed(), ...bids].map(({ price, size, sum }) => [
    Number(price).toFixed(decimals).padStart(8),
    size.padStart(14),
    '█'.repeat(Math.max(1, Math.round((BAR_WIDTH * sum) / most))),
  ]);
  const lines = aligned(cells);
  const middle = `spread ${spread(read)}  last ${read.last_trade_price || '-'}  tick ${read.tick_size}`;
  return [
    ...lines.slice(0, asks.length).map(paint.red),
    asks.length === 0 ? paint.dim('  no asks') : '',
    paint.bold(middle),
    bids.length === 0 ? paint.dim('  no bids') : '',
    ...lines.slice(asks.length).map(paint.green),
    paint.dim(new Date(Number(read.timestamp)).toISOString()),
  ].filter((line) => line !== '');
}

function summed(levels: readonly Level[], count: number): (Level & { readonly sum: number })[] {
  let sum = 0;
  return levels
    .slice(-count)
    .toReversed()
    .map((level) => {
      sum += Number(level.size);
      return { ...level, sum };
    });
}

function spread({ asks, bids }: Book): string {
  const [ask, bid] = [asks.at(-1), bids.at(-1)];
  if (ask === undefined || bid === undefined) return '-';
  return String(Math.round((Number(ask.price) - Number(bid.price)) * 1e6) / 1e6);
}
