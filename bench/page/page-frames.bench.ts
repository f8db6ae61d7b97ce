/**
 * `npm run bench -- page-frames`: work of the main thread of the trading page for a frame, on a processor that is made four
 * times as slow, while its market has 50 orders, cancels and trades a second, and while nothing changes. Both take turns.
 * The figure is the time of the processor: the slowed browser also stretches what other processes take from it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { NodeClient, type OrderTerms, tokenIdsOf, Wallet } from '../../client/client.ts';
import { percentile, print, type Ratio, ratioLine } from '../common/figures.ts';
import { LocalNode } from '../load/load-node.ts';
import { Random } from '../random.ts';
import { findChromium, openChromium } from './chromium.ts';
import { askForFrames, type FrameWork, framesOf } from './frames.ts';

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
const READY_MS = 60_000;
/** Every tenth update is a trade. */
const TRADE_EVERY = 10;
/** Hundredths beyond the best price that a taker accepts. */
const BEYOND = 10;

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
    await askForFrames(page);
    await Promise.all([pause(1_000 * shape.seconds), maker.run(shape.seconds)]);
    const idle: FrameWork[] = [];
    const busy: FrameWork[] = [];
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
      ratio: percentile(processor(busy), SHARE) / FRAME_MS,
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

function processor(frames: readonly FrameWork[]): number[] {
  return frames.map((frame) => frame.processor);
}

function line(name: string, frames: readonly FrameWork[]): void {
  const of = processor(frames);
  const at = (share: number): string => percentile(of, share).toFixed(1);
  const elapsed = percentile(
    frames.map((frame) => frame.elapsed),
    SHARE,
  ).toFixed(1);
  const text = `p50 ${at(0.5)}, p95 ${at(SHARE)}, max ${at(1)} ms a frame (${of.length})`;
  print(name, `${text}; p95 with what other processes took ${elapsed} ms`);
}

/** Orders that come and go at the best levels of one book, and trades with them. */
class Maker {
  readonly market: string;
  readonly #client: NodeClient;
  readonly #taker: NodeClient;
  readonly #tokenId: string;
  /** Token of the other outcome: who buys it takes what is bid for the first one. */
  readonly #otherId: string;
  /** Best price in hundredths before the first order. */
  readonly #best: number;
  readonly #open: string[] = [];
  readonly #random = new Random('page-frames');
  #updates = 0;

  private constructor(
    [client, taker]: readonly [NodeClient, NodeClient],
    market: string,
    [tokenId, otherId]: readonly [string, string],
    best: number,
  ) {
    this.#client = client;
    this.#taker = taker;
    this.market = market;
    this.#tokenId = tokenId;
    this.#otherId = otherId;
    this.#best = best;
  }

  static async open(url: URL): Promise<Maker> {
    const client = await NodeClient.connect(url, { wallet: Wallet.random() });
    const taker = await NodeClient.connect(url, { wallet: Wallet.random() });
    for await (const market of client.catalog.markets({ closed: false })) {
      const [tokenId, otherId, third] = tokenIdsOf(market);
      if (tokenId === undefined || otherId === undefined || third !== undefined) continue;
      const { bids } = await client.call('GET /book', { query: { token_id: tokenId } });
      const best = Math.round(100 * Number(bids.at(-1)?.price ?? 0));
      if (best > LEVELS && Number(market.orderPriceMinTickSize) === 0.01) {
        return new Maker([client, taker], market.id, [tokenId, otherId], best);
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
    this.#taker.close();
  }

  async #update(): Promise<void> {
    this.#updates += 1;
    if (this.#updates % TRADE_EVERY === 0) return this.#trade();
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
  async #trade(): Promise<void> {
    const price = ((100 - this.#best + BEYOND) / 100).toFixed(2);
    const size = String(5 + this.#random.below(20));
    const order: OrderTerms = { tokenId: this.#otherId, side: 'BUY', price, size, type: 'FAK' };
    await this.#taker.orders.post(order);
  }
}
