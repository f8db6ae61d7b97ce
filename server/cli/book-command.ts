/** `book`: draws a book of a running node, and draws it again whenever it changes. */
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Run } from './context.ts';
import { answerOf, baseOf } from './node-request.ts';
import { numberOf, textOf, tokenOf } from './settings.ts';
import { aligned, CLEAR_SCREEN, isTerminal, type Paint } from './terminal.ts';

interface Level {
  readonly price: string;
  readonly size: string;
}

/** The fields of `GET /book` that are read. */
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

export const book: Run = async (context, [token = ''], options) => {
  const { paint, signal, stdout } = context;
  const levels = numberOf(textOf(options, 'levels') ?? String(LEVELS), '--levels', 1);
  const base = baseOf(context, options, (config) => config);
  const url = new URL(`/book?token_id=${tokenOf(token)}`, base);
  let seen: string | undefined;
  let isOpen = true;
  do {
    const read = await answerOf<Book>(url, signal);
    if (read.hash + read.timestamp !== seen) {
      const clear = seen !== undefined && isTerminal(stdout) ? CLEAR_SCREEN : '';
      isOpen = await written(stdout, `${clear}${drawn(read, levels, paint).join('\n')}\n`);
      seen = read.hash + read.timestamp;
    }
    if (options.watch === true) await sleep(WATCH_MS, undefined, { signal }).catch(() => undefined);
  } while (options.watch === true && isOpen && !signal.aborted);
  return 'done';
};

/** False when the reader has disconnected. */
function written(stream: Writable, text: string): Promise<boolean> {
  return new Promise((resolve) => {
    stream.write(text, (error) => resolve(error == null));
  });
}

/** Asks above bids, best prices in the middle. A bar is the size from the best price on. */
function drawn(read: Book, count: number, paint: Paint): string[] {
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

/** Best levels first, each with the total size up to it. */
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
