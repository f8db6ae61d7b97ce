/**
 * The streams on real sockets and an engine of their own, without workers or disk; placed orders
 * are flushed when the test says so.
 */

import { deriveCredentials } from '../../server/auth/credentials.ts';
import { type HttpServer, listen } from '../../server/http/http.ts';
import type { OrderRequestParts } from '../../server/streams/order-requests.ts';
import type { StreamLimits } from '../../server/streams/stream-bounds.ts';
import { Streams } from '../../server/streams/streams.ts';
import type { KeyComes } from '../../server/streams/user-channel.ts';
import { addressWords } from '../engine/engine-driver.ts';
import type { OrderLine } from '../engine/naive-types.ts';
import { FeedStage } from './feed-stage.ts';

const SHARE = 1_000_000n;
/** Key that reads the events of a wallet. */
export const READ_ONLY_KEY = 'read-only-key';
const READ_ONLY_WALLET = 1;

const NODE_KEY = Buffer.alloc(32, 7);

export const LIMITS: StreamLimits = {
  idleSeconds: 120,
  subscriptionsMax: 4,
  connectionsMax: 3,
  backpressureBytes: 2 ** 20,
  callerFactor: 2,
  acks: false,
};

export class SocketStage extends FeedStage {
  streams: Streams;
  server: HttpServer | undefined;
  /** Unix milliseconds. */
  clock = 1_700_000_000_000;
  /** Milliseconds since the start. */
  elapsed = 0;
  readonly revoked = new Set<string>();
  /** Keys that arrive later, as where another node leads. */
  keyComes: KeyComes = () => undefined;
  readonly lines: string[] = [];
  private placed = 0;
  private readonly wallets = new Map<string, number>();

  constructor(limits: StreamLimits = LIMITS, eventsMax = 100, orders?: OrderRequestParts) {
    super();
    this.streams = new Streams({
      tables: this.t,
      texts: this.texts,
      lookup: () => undefined,
      books: this.books,
      limits,
      key: (apiKey) => this.key(apiKey),
      readOnlyKey: (key) => {
        return key === READ_ONLY_KEY ? { address: bytesOf(READ_ONLY_WALLET) } : undefined;
      },
      keyComes: (isKnown) => this.keyComes(isKnown),
      whenBatchesDone: (callback) => setImmediate(callback),
      now: () => this.clock,
      venue: 'stage',
      recent: this.recent,
      elapsed: () => this.elapsed,
      log: (line) => this.lines.push(line),
      eventsMax,
      ...(orders && { orders }),
    });
  }

  /** @param socketBacklogMax bytes that may wait for all readers together */
  async open(socketBacklogMax = 2 ** 28, trustProxy = 0): Promise<void> {
    const log = (line: string): void => void this.lines.push(line);
    const options = { host: '127.0.0.1', port: 0, trustProxy, log, socketBacklogMax };
    this.server = await listen([], options, this.streams.routes);
    this.streams.open(this.server.publish);
  }

  get port(): number {
    return this.server!.port;
  }

  async stop(): Promise<void> {
    this.streams.close();
    await this.server!.close();
  }

  auth(wallet: number): { apiKey: string; secret: string; passphrase: string } {
    const trio = deriveCredentials(NODE_KEY, 137, bytesOf(wallet), '0');
    this.wallets.set(trio.apiKey, wallet);
    return trio;
  }

  markets(count: number, outcomes = 2): void {
    this.run({ kind: 'at', time: this.clock });
    const terms = { grid: 100, baseFeeBps: 0, minSize: 0n, tradable: true, ended: false };
    for (let condition = 1; condition <= count; condition++) {
      this.run({ kind: 'market', condition, outcomes, ...terms, negRisk: false });
    }
    this.flushAll();
  }

  /** Applies one order in a batch of its own, which is not flushed. */
  order(wallet: number, token: number, side: 'BUY' | 'SELL', ticks: number, shares: number): void {
    this.clock += 1;
    this.run({ kind: 'at', time: this.clock });
    this.placed += 1;
    const amount = BigInt(shares) * SHARE;
    const line: OrderLine = {
      kind: 'order',
      id: this.placed,
      token,
      side,
      type: 'GTC',
      postOnly: false,
      shares: amount,
      collateral: (amount * BigInt(ticks)) / 100n,
      expiration: 0,
      feeRateBps: 1_000,
      maker: wallet,
      signer: wallet,
      signatureType: 0,
      faults: [],
    };
    this.run(line);
    this.endBatch();
  }

  override flush(): void {
    const batch = this.unflushed.shift();
    if (batch === undefined) return;
    this.recent.add(batch);
    this.streams.flushed(batch);
  }

  flushAll(): void {
    this.endBatch();
    while (this.unflushed.length > 0) this.flush();
  }

  token(slot: number): string {
    return JSON.parse(this.books.render(slot as never)!.toString()).asset_id as string;
  }

  condition(slot: number): string {
    return JSON.parse(this.books.render(slot as never)!.toString()).market as string;
  }

  private key(apiKey: string) {
    const wallet = this.wallets.get(apiKey);
    if (wallet === undefined || this.revoked.has(apiKey)) return undefined;
    const trio = deriveCredentials(NODE_KEY, 137, bytesOf(wallet), '0');
    return {
      apiKey,
      apiKeyBytes: Buffer.from(apiKey.replaceAll('-', ''), 'hex'),
      address: bytesOf(wallet),
      addressText: `0x${bytesOf(wallet).toString('hex')}`,
      secret: Buffer.from(trio.secret, 'base64'),
      passphrase: Buffer.from(trio.passphrase, 'hex'),
    };
  }
}

function bytesOf(wallet: number): Buffer {
  const bytes = Buffer.alloc(20);
  addressWords(wallet).forEach((word, i) => {
    bytes.writeInt32BE(word | 0, 4 * i);
  });
  return bytes;
}
