/**
 * Delay of a mirror behind its source: one node with its living demo, one that mirrors it, and a reader of both
 * streams. A sample is the time from a state of a book at the source to the same state at the mirror, as the reader
 * gets them. The log of the mirror is flushed in between.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MarketStream } from '../../client/streams/market-stream.ts';
import { latencies, print } from '../common/figures.ts';
import { LocalNode } from '../load/load-node.ts';

export interface MirrorShape {
  readonly seconds: number;
  readonly markets: number;
}
export const MIRROR_FULL: MirrorShape = { seconds: 60, markets: 12 };

const PATIENCE_MS = 60_000;

export async function mirrorSuite({ markets, seconds }: MirrorShape): Promise<readonly number[]> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-mirror-'));
  const profile = { CLIENT_PROFILE: 'polymarket', LOG_LEVEL: 'error' };
  const source = await LocalNode.start(join(directory, 'source'), {
    demo: true,
    environment: { ...profile, DEMO_TRADERS: 'on' },
  });
  const mirror = await LocalNode.start(join(directory, 'mirror'), {
    demo: false,
    environment: {
      ...profile,
      LEDGER: 'on',
      CATALOG_SYNC_SECONDS: '1',
      MIRROR_URL: source.url.origin,
      MIRROR_MARKETS: `top:${markets}`,
    },
  });
  try {
    const tokens = await liveTokens(mirror.url, markets);
    const ms = await follow(source.url, mirror.url, tokens, seconds);
    print('mirror', `${tokens.length} books, ${seconds} s of the demo`);
    latencies('a state of a book, source to mirror', ms);
    return ms;
  } finally {
    await Promise.all([source.stop(), mirror.stop()]);
    rmSync(directory, { recursive: true });
  }
}

/** The first tokens of the mirrored markets, once all of them are live. */
async function liveTokens(url: URL, count: number): Promise<string[]> {
  for (;;) {
    const status = (await (await fetch(new URL('/status', url))).json()) as {
      readonly mirror?: { readonly books: { readonly live: number } };
    };
    if (status.mirror?.books.live === count) break;
    await sleep(100);
  }
  const list = new URL('/markets?closed=false&limit=500', url);
  const all = (await (await fetch(list)).json()) as readonly {
    readonly clobTokenIds: string;
    readonly bestBid: number;
  }[];
  const mirrored = all.filter(({ bestBid }) => bestBid > 0);
  return mirrored.map(({ clobTokenIds }) => (JSON.parse(clobTokenIds) as string[])[0]!);
}

const streamOf = (url: URL) => async (): Promise<URL> =>
  new URL('/ws/market', url.href.replace('http', 'ws'));

async function follow(
  source: URL,
  mirror: URL,
  tokens: readonly string[],
  seconds: number,
): Promise<number[]> {
  const ms: number[] = [];
  /** Times at which the source reached states that the mirror has not reached, by token. */
  const ahead = new Map<string, Map<string, number>>(tokens.map((token) => [token, new Map()]));
  const open = (url: URL, see: (token: string, state: string) => void) =>
    MarketStream.open(streamOf(url), PATIENCE_MS, tokens, {
      event(_event, book) {
        if (book === undefined) return;
        const { asks, bids } = book.answer;
        see(book.tokenId, JSON.stringify([bids, asks]));
      },
    });
  const streams = [
    await open(mirror, (token, state) => {
      const seen = ahead.get(token)?.get(state);
      if (seen === undefined) return;
      ms.push(performance.now() - seen);
      // States between are joined to one update, and are never seen.
      ahead.get(token)?.clear();
    }),
    await open(source, (token, state) => {
      const states = ahead.get(token);
      if (states?.has(state) === false) states.set(state, performance.now());
    }),
  ];
  // What the first books of the source show, the mirror has already.
  for (const states of ahead.values()) states.clear();
  await sleep(1_000 * seconds);
  for (const stream of streams) stream.close();
  return ms;
}
