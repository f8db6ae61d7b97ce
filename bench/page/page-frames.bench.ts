/**
 * `npm run bench -- page-frames`: work of the main thread of the trading page for a frame, on a processor that is made four
 * times as slow, while its book changes 50 times a second, and while nothing changes. Both take turns. Work is the time of
 * the tasks that begin between two frames, by the browser's own trace: scripts, styles, layout and paint.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { NodeClient, tokenIdsOf, Wallet } from '../../client/client.ts';
import { percentile, print, type Ratio, ratioLine } from '../common/figures.ts';
import { LocalNode } from '../load/load-node.ts';
import { Random } from '../random.ts';
import { findChromium, openChromium, type Page } from './chromium.ts';

export interface PageFramesShape {
  readonly rounds: number;
  /** Length of a round of each kind. */
  readonly seconds: number;
}

export const PAGE_FRAMES_FULL: PageFramesShape = { rounds: 4, seconds: 10 };

const SLOWER = 4;
const UPDATES_PER_SECOND = 50;
const LEVELS = 10;
const OPEN_MAX = 40;
const FRAME_MS = 16;
const SHARE = 0.95;
const US = 1_000;
const READY_MS = 60_000;
const CATEGORIES = [
  'disabled-by-default-devtools.timeline',
  'disabled-by-default-devtools.timeline.frame',
];
/** Frames are made only where something asks for them. */
const ASK_FOR_FRAMES = '{ const next = () => requestAnimationFrame(next); next(); }';

/** Returns undefined where no Chromium is installed. */
export async function pageFramesSuite(shape: PageFramesShape): Promise<Ratio | undefined> {
  const chromium = findChromium();
  if (chromium === undefined) {
    print('page-frames', 'left out: no Chromium here (apt-get install chromium)');
    return undefined;
  }
  const directory = mkdtempSync(join(tmpdir(), 'page-frames-'));
  const environment = { LOG_LEVEL: 'warn', APP: 'on', LEDGER: 'on', FAUCET: '1000000' };
  const node = await LocalNode.start(directory, { demo: true, environment });
  const browser = await openChromium(chromium);
  try {
    const maker = await Maker.open(node.url);
    const page = await browser.newPage();
    await page.setViewport({ width: 1440, height: 900 });
    await page.goto(new URL(`/app/market/${maker.market}`, node.url).href);
    await page.waitForSelector('.ladder .bids tr:not(.none)', { timeout: READY_MS });
    await page.emulateCPUThrottling(SLOWER);
    await page.evaluate(ASK_FOR_FRAMES);
    await Promise.all([pause(1_000 * shape.seconds), maker.run(shape.seconds)]);
    const idle: number[] = [];
    const busy: number[] = [];
    let updates = 0;
    for (let round = 0; round < shape.rounds; round++) {
      idle.push(...(await framesOf(page, () => pause(1_000 * shape.seconds))));
      const run = async (): Promise<void> => {
        updates += await maker.run(shape.seconds);
      };
      busy.push(...(await framesOf(page, run)));
    }
    maker.close();
    print('updates a second', (updates / shape.rounds / shape.seconds).toFixed(1));
    line('idle page', idle);
    line('page with updates', busy);
    const ratio = {
      name: `p95 of a frame to ${FRAME_MS} ms`,
      ratio: percentile(busy, SHARE) / FRAME_MS,
      bound: 'at most',
      aim: 1,
    } as const;
    ratioLine(ratio);
    return ratio;
  } finally {
    await browser.close();
    await node.end();
    rmSync(directory, { recursive: true, force: true });
  }
}

function line(name: string, ms: readonly number[]): void {
  const at = (share: number): string => percentile(ms, share).toFixed(1);
  print(name, `p50 ${at(0.5)}, p95 ${at(SHARE)}, max ${at(1)} ms a frame (${ms.length})`);
}

/** Orders that come and go at the best levels of one book. */
class Maker {
  readonly market: string;
  readonly #client: NodeClient;
  readonly #tokenId: string;
  /** Best price in hundredths before the first order. */
  readonly #best: number;
  readonly #open: string[] = [];
  readonly #random = new Random('page-frames');

  private constructor(client: NodeClient, market: string, tokenId: string, best: number) {
    this.#client = client;
    this.market = market;
    this.#tokenId = tokenId;
    this.#best = best;
  }

  static async open(url: URL): Promise<Maker> {
    const client = await NodeClient.connect(url, { wallet: Wallet.random() });
    for await (const market of client.catalog.markets({ closed: false })) {
      const [tokenId] = tokenIdsOf(market);
      if (tokenId === undefined) continue;
      const { bids } = await client.call('GET /book', { query: { token_id: tokenId } });
      const best = Math.round(100 * Number(bids.at(-1)?.price ?? 0));
      if (best > LEVELS && Number(market.orderPriceMinTickSize) === 0.01) {
        return new Maker(client, market.id, tokenId, best);
      }
    }
    throw new Error('no market of the demo has enough levels');
  }

  /** Returns the number of updates. */
  async run(seconds: number): Promise<number> {
    const count = seconds * UPDATES_PER_SECOND;
    const began = performance.now();
    const sent: Promise<void>[] = [];
    for (let i = 0; i < count; i++) {
      await pause(began + (1_000 * i) / UPDATES_PER_SECOND - performance.now());
      sent.push(this.#update());
    }
    await Promise.all(sent);
    return count;
  }

  close(): void {
    this.#client.close();
  }

  async #update(): Promise<void> {
    const { orders } = this.#client;
    const oldest = this.#open.length >= OPEN_MAX ? this.#open.shift() : undefined;
    if (oldest !== undefined) {
      await orders.cancel(oldest);
      return;
    }
    const price = ((this.#best - this.#random.below(LEVELS)) / 100).toFixed(2);
    const size = String(5 + this.#random.below(500));
    const { id, status } = await orders.post({ tokenId: this.#tokenId, side: 'BUY', price, size });
    if (status === 'live') this.#open.push(id);
  }
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds. */
  readonly ts: number;
  readonly dur?: number;
}

/** Milliseconds of work for each frame while something runs. */
async function framesOf(page: Page, run: () => Promise<unknown>): Promise<number[]> {
  await page.tracing.start({ categories: CATEGORIES });
  await run();
  const text = await page.tracing.stop();
  const { traceEvents } = JSON.parse(new TextDecoder().decode(text)) as {
    readonly traceEvents: readonly TraceEvent[];
  };
  const frames = traceEvents
    .filter(({ name }) => name === 'BeginMainThreadFrame')
    .sort((a, b) => a.ts - b.ts);
  const { pid, tid } = frames[0] ?? { pid: 0, tid: 0 };
  const work = frames.map(() => 0);
  let frame = -1;
  for (const task of traceEvents
    .filter((event) => event.name === 'RunTask' && event.pid === pid && event.tid === tid)
    .sort((a, b) => a.ts - b.ts)) {
    while (frame + 1 < frames.length && frames[frame + 1]!.ts < task.ts + (task.dur ?? 0)) frame++;
    if (frame >= 0) work[frame]! += (task.dur ?? 0) / US;
  }
  return work.slice(1, -1);
}
