/** `book`: a book as the node serves it, drawn; again whenever it changes. */
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context, Run } from './context.ts';
import { Refused } from './exit-codes.ts';
import { configOf, numberOf, textOf, tokenOf } from './settings.ts';
import { aligned, CLEAR_SCREEN, isTerminal, type Paint } from './terminal.ts';

interface Level {
  readonly price: string;
  readonly size: string;
}

/** What is read of `GET /book`. */
interface Book {
  readonly hash: string;
  readonly timestamp: string;
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
  readonly tick_size: string;
  readonly last_trade_price: string;
}

const WATCH_MS = 250;
const TIMEOUT_MS = 10_000;
const BAR_WIDTH = 30;
const LEVELS = 10;

export const book: Run = async (context, [token = ''], options) => {
  const { paint, signal, stdout } = context;
  const levels = numberOf(textOf(options, 'levels') ?? String(LEVELS), '--levels', 1);
  const url = new URL(`/book?token_id=${tokenOf(token)}`, baseOf(context, textOf(options, 'url')));
  let seen: string | undefined;
  let isHeard = true;
  do {
    const read = await fetched(url, signal);
    if (read.hash + read.timestamp !== seen) {
      const clear = seen !== undefined && isTerminal(stdout) ? CLEAR_SCREEN : '';
      isHeard = await written(stdout, `${clear}${drawn(read, levels, paint).join('\n')}\n`);
      seen = read.hash + read.timestamp;
    }
    if (options.watch === true) await sleep(WATCH_MS, undefined, { signal }).catch(() => undefined);
  } while (options.watch === true && isHeard && !signal.aborted);
  return 'done';
};

/** False where who read it has gone. */
function written(stream: Writable, text: string): Promise<boolean> {
  return new Promise((resolve) => {
    stream.write(text, (error) => resolve(error == null));
  });
}

function baseOf(context: Context, url: string | undefined): string {
  if (url !== undefined) {
    const isHttp = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
    if (!isHttp) throw new Refused('usage', `--url must be an http or https URL, not "${url}"`);
    return url;
  }
  const { host, port } = configOf(context);
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

async function fetched(url: URL, signal: AbortSignal): Promise<Book> {
  let response: Response;
  try {
    response = await fetch(url, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
  } catch (error) {
    const { cause, message } = error as Error;
    throw new Error(
      `no answer from ${url.origin}: ${(cause as Error | undefined)?.message ?? message}`,
    );
  }
  const body = (await response.json()) as Book & { readonly error?: string };
  if (!response.ok) throw new Error(`${url.origin}: ${body.error ?? response.status}`);
  return body;
}

/** Asks above bids, best prices in the middle, a bar as long as what rests up to there. */
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

/** Best levels first, each with the sum up to it. */
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
