/** Recordings for the proof: those of ../shared/data where they are there, and a random one. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readCatalog } from '../../storage/catalog/catalog-file.ts';
import { openRecording } from '../../storage/recordings/recording.ts';
import type { Random } from '../common/random.ts';
import { ROOT } from '../common/root.ts';
import type { MarketMessage } from './naive-source.ts';
import type { Recorded } from './paper-run.ts';

const SHARED = process.env.SHARED_DATA ?? join(ROOT, '../shared/data');

export function sharedPaths(): string[] {
  if (!existsSync(SHARED)) return [];
  return readdirSync(SHARED)
    .filter((name) => /^book-stream-shared-.*\.jsonl$/.test(name))
    .map((name) => join(SHARED, name));
}

export async function readRecorded(path: string): Promise<Recorded> {
  const recording = await openRecording(path);
  const read = readCatalog(recording.catalog);
  if (!read.ok) throw new Error(read.error);
  const [market] = read.catalog.markets;
  const messages: MarketMessage[] = [];
  for await (const entry of recording) {
    if (entry.kind === 'message') messages.push(entry.message as MarketMessage);
  }
  return {
    name: recording.header.venue,
    asset: market!.tokenIds[0]!,
    second: market!.tokenIds[1]!,
    ticksPerUnit: market!.ticksPerUnit,
    infersTrades: recording.header.inferred.includes(market!.tokenIds[0]!),
    messages,
  };
}

/** Levels of one side of the random source, in ticks of 0.01. */
type Depth = Map<number, number>;

/**
 * A random venue. Levels come and go, and trades are prints and decreases in either order, for
 * either token, in both forms of messages. Now and then it is crossed for a message, or a snapshot
 * comes.
 */
export function randomRecording(random: Random, steps: number): Recorded {
  const source = new RandomSource(random);
  source.snapshot();
  for (let i = 0; i < steps; i++) source.step();
  const { asset, second, messages } = source;
  return { name: 'random', asset, second, ticksPerUnit: 100, infersTrades: false, messages };
}

class RandomSource {
  readonly asset = '11';
  readonly second = '22';
  readonly messages: MarketMessage[] = [];
  private readonly bids: Depth = new Map();
  private readonly asks: Depth = new Map();
  private readonly random: Random;
  private time = 1_000_000;

  constructor(random: Random) {
    this.random = random;
    for (let i = 0; i < 15; i++) {
      this.bids.set(49 - i, random.between(10, 900));
      this.asks.set(51 + i, random.between(10, 900));
    }
  }

  step(): void {
    const { random } = this;
    this.time += random.between(0, random.chance(5) ? 9_000 : 900);
    const drawn = random.below(100);
    if (drawn < 3) this.snapshot();
    else if (drawn < 6) this.crossed();
    else if (drawn < 40) this.trade();
    else this.resize();
  }

  snapshot(): void {
    const levels = (depth: Depth) =>
      [...depth].map(([ticks, size]) => ({ price: priceOf(ticks), size: String(size) }));
    const of = { market: 'random', asset_id: this.asset, timestamp: String(this.time) };
    const book = { bids: levels(this.bids), asks: levels(this.asks) };
    this.messages.push({ event_type: 'book', ...of, ...book });
  }

  private resize(): void {
    const { random } = this;
    const isBid = random.chance(50);
    const best = isBid ? Math.max(...this.bids.keys()) : Math.min(...this.asks.keys());
    const facing = isBid ? Math.min(...this.asks.keys()) : Math.max(...this.bids.keys());
    const ticks = best + (isBid ? -1 : 1) * random.between(-2, 5);
    // A level that crosses comes of its own (crossed).
    if (ticks < 2 || ticks > 98 || (isBid ? ticks >= facing : ticks <= facing)) return;
    this.change(isBid, ticks, random.chance(25) ? 0 : random.between(10, 900));
  }

  /** A taker takes the best level, or a part of it, and goes on to the next one. */
  private trade(): void {
    const { random } = this;
    const takesBids = random.chance(50);
    const depth = takesBids ? this.bids : this.asks;
    for (let left = random.between(1, 1_200); left > 0 && depth.size > 3; ) {
      const best = takesBids ? Math.max(...depth.keys()) : Math.min(...depth.keys());
      const size = Math.min(left, depth.get(best)!);
      left -= size;
      const isPrintFirst = random.chance(50);
      if (isPrintFirst) this.print(takesBids, best, size);
      this.change(takesBids, best, depth.get(best)! - size);
      if (isPrintFirst) continue;
      this.time += random.between(0, 1_500);
      this.print(takesBids, best, size);
    }
  }

  /** A bid comes before the asks in its way are removed. */
  private crossed(): void {
    const ask = Math.min(...this.asks.keys());
    if (this.asks.size < 5) return;
    this.change(true, ask, 77);
    this.change(false, ask, 0);
  }

  private change(isBid: boolean, ticks: number, size: number): void {
    const depth = isBid ? this.bids : this.asks;
    if (size === 0) depth.delete(ticks);
    else depth.set(ticks, size);
    const of = { market: 'random', timestamp: String(this.time) };
    const level = { price: priceOf(ticks), side: isBid ? 'BUY' : 'SELL', size: String(size) };
    if (this.random.chance(50)) {
      const event = { event_type: 'price_change', asset_id: this.asset } as const;
      this.messages.push({ ...event, ...of, changes: [level] });
      return;
    }
    const other = { ...level, price: priceOf(100 - ticks), side: isBid ? 'SELL' : 'BUY' };
    const changes = [
      { asset_id: this.second, ...other },
      { asset_id: this.asset, ...level },
    ];
    this.messages.push({ event_type: 'price_change', ...of, price_changes: changes });
  }

  private print(takesBids: boolean, ticks: number, size: number): void {
    const isSecond = this.random.chance(30);
    this.messages.push({
      event_type: 'last_trade_price',
      market: 'random',
      asset_id: isSecond ? this.second : this.asset,
      timestamp: String(this.time),
      price: priceOf(isSecond ? 100 - ticks : ticks),
      size: String(size),
      side: takesBids === isSecond ? 'BUY' : 'SELL',
    });
  }
}

function priceOf(ticks: number): string {
  return String(ticks / 100);
}
