/**
 * Compressed answers: which requests accept one, and a bounded cache of recent ones.
 *
 * Compressing takes three hundred times as long as joining an answer, so it runs on Node's thread
 * pool, one answer at a time. Other requests at that time are answered uncompressed.
 *
 * Thread: the I/O thread.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { RecentCache } from '../common/recent-cache.ts';

const compress = promisify(gzip);

/**
 * Measured on 100 real markets (207 kB) and 500 (1146 kB), in milliseconds and remaining size: gzip
 * 1: 1.2, 19 % and 5.5, 16 %; gzip 6: 2.2, 17 % and 10.7, 14 %; gzip 9: 2.4 and 11.8, no smaller.
 * Brotli 1 equals gzip 6 in a quarter of the time; brotli 4 gives 15 % and 12 % in the same time.
 * That is too little for a second form of every answer, because every client that compresses
 * supports gzip.
 */
const COMPRESSION = { level: 6 } as const;

/**
 * A single market (2 to 3 kB) shrinks to half, which is one packet; smaller answers gain nothing.
 */
const BYTES_MIN = 2 * 1024;

const CACHE_BYTES_MAX = 32 * 1024 * 1024;

export class CompressedAnswers {
  private cache: RecentCache<Buffer>;
  private isBusy = false;
  private readonly cacheBytesMax: number;

  constructor(cacheBytesMax = CACHE_BYTES_MAX) {
    this.cacheBytesMax = cacheBytesMax;
    this.cache = this.emptied();
  }

  /** An answer that is compressed meanwhile is not cached. */
  clear(): void {
    this.cache = this.emptied();
  }

  get(url: string): Buffer | undefined {
    return this.cache.get(url);
  }

  /**
   * Compresses an answer and caches it. Returns undefined at once when it is too small, or another
   * one is being compressed. The bytes are copied within the call, unless they stay unchanged.
   */
  add(url: string, bytes: Uint8Array, isStable = false): Promise<Buffer> | undefined {
    if (bytes.length < BYTES_MIN || this.isBusy) return undefined;
    this.isBusy = true;
    return this.make(url, isStable ? bytes : Buffer.from(bytes)).finally(() => {
      this.isBusy = false;
    });
  }

  private async make(url: string, bytes: Uint8Array): Promise<Buffer> {
    const { cache } = this;
    const compressed = await compress(bytes, COMPRESSION);
    cache.set(url, compressed);
    return compressed;
  }

  private emptied(): RecentCache<Buffer> {
    return new RecentCache(this.cacheBytesMax, (url, { length }) => 2 * url.length + length);
  }
}

/**
 * Returns true when a caller prefers gzip, or has no preference (RFC 9110 12.5.3).
 * @param accepted value of Accept-Encoding, '' when absent
 */
export function acceptsGzip(accepted: string): boolean {
  if (accepted === '') return false;
  const weights = new Map<string, number>();
  for (const item of accepted.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = item.split(';');
    const name = coding.trim() === 'x-gzip' ? 'gzip' : coding.trim();
    weights.set(name, Math.max(weights.get(name) ?? 0, weightOf(parameters)));
  }
  const gzipWeight = weights.get('gzip') ?? weights.get('*') ?? 0;
  return gzipWeight > 0 && gzipWeight >= (weights.get('identity') ?? 0);
}

/** Weight among the parameters of a coding; 1 when absent, 0 when it is not a weight. */
function weightOf(parameters: readonly string[]): number {
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.split('=');
    if (name.trim() !== 'q') continue;
    const weight = Number(value.trim() || 'none');
    return weight >= 0 && weight <= 1 ? weight : 0;
  }
  return 1;
}
