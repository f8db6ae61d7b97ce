/**
 * Signed orders for one node, sent in bursts that are measured one by one: each of them fills at once.
 *
 * Thread: the suite's only one. Non-goals: several sending processes (bench/measure has them).
 */
import type { ApiKey } from '../../client/credentials.ts';
import { readConfig } from '../../server/config/config.ts';
import { openClient } from '../load/load-client.ts';
import { exchangeOf } from '../load/load-orders.ts';
import { targetMarkets } from '../load/load-target.ts';
import { arrivalsOf } from '../measure/arrivals.ts';
import { type Signing, signingOf } from '../measure/job.ts';
import { type MeasureOptions, parseMeasureOptions } from '../measure/measure-options.ts';
import { Outcomes, WELL } from '../measure/outcomes.ts';
import { monotonicMs } from '../measure/pacer.ts';
import { PackedRequests } from '../measure/packed-requests.ts';
import { bytesOf, Drawer, type Request } from '../measure/prepare.ts';
import { type Sample, SampleRows, samplesOf } from '../measure/samples.ts';
import { Sender } from '../measure/sender.ts';
import { Stage } from '../measure/stage.ts';
import { unsignedBy } from '../measure/unsigned.ts';
import { Random } from '../random.ts';

export interface TrafficOptions {
  /** All that will be sent, so that books are deep enough. */
  readonly orders: number;
  readonly unsigned: boolean;
  /** True where the node keeps a ledger: its faucet is open, and wallets need shares. */
  readonly hasLedger?: boolean;
  /** Wallets that send orders. */
  readonly wallets?: number;
}

export interface Burst {
  /** Latency of each request in the order of their ends; in an open loop from the time at which it was due. */
  readonly latencyMs: readonly number[];
  readonly ordersPerSecond: number;
  /** Rows of SampleRows; `dueMs` is relative to `startMs` of the machine's monotonic clock. */
  readonly samples: Float64Array;
  readonly startMs: number;
}

const WALLETS = 8;
const MARKETS = 12;
const DRAIN_MS = 10_000;
const KIND = 'fok';
const MIX = `${KIND}=100`;

export class Traffic {
  /** Keys of the wallets that send orders. */
  readonly keys: readonly ApiKey[];
  readonly #url: URL;
  readonly #signing: Signing;
  readonly #drawer: (batch: number) => Drawer;
  readonly #drawers = new Map<number, Drawer>();

  private constructor(
    url: URL,
    signing: Signing,
    keys: readonly ApiKey[],
    drawer: (batch: number) => Drawer,
  ) {
    this.#url = url;
    this.keys = keys;
    this.#signing = signing;
    this.#drawer = drawer;
  }

  /** Issues keys, and fills the books of a node that was started with the usual configuration. */
  static async open(
    url: URL,
    { hasLedger = false, orders, unsigned, wallets = WALLETS }: TrafficOptions,
  ): Promise<Traffic> {
    const read = readConfig({}, [], 1);
    if (!read.ok) throw new Error(read.problems.join('; '));
    const signing = signingOf(read.config);
    const options: MeasureOptions = { ...optionsOf(orders, wallets), url };
    const client = openClient(url);
    const level1 = { prefix: signing.credentialPrefix, chainId: signing.chainId };
    const stage = await Stage.open(client, level1, options);
    const markets = await targetMarkets(options, MARKETS);
    if (hasLedger) await stage.split(markets);
    await stage.fill(markets, exchangeOf(signing), options);
    client.close();
    const accounts = stage.traders.map(({ key, wallet }) => ({
      key,
      signer: { wallet: unsigned ? unsignedBy(wallet.address) : wallet, owner: key.apiKey },
    }));
    return new Traffic(
      url,
      signing,
      accounts.map(({ key }) => key),
      (batch) =>
        new Drawer({
          random: new Random(`${options.seed}/${batch}`),
          mix: options.mix,
          batch,
          accounts,
          markets,
          context: exchangeOf(signing),
          salts: `${options.run}${batch + 1}`,
          cancelDistance: 0,
        }),
    );
  }

  /** Requests of `batch` orders each; each is good for one burst. */
  draw(requests: number, batch: number): Request[] {
    return [...this.drawing(requests, batch)];
  }

  /** Draws each request when it is asked for: a burst of hundreds of thousands retains none of them. */
  *drawing(requests: number, batch: number): Generator<Request> {
    const drawer = this.#drawers.get(batch) ?? this.#drawer(batch);
    this.#drawers.set(batch, drawer);
    for (let i = 0; i < requests; i += 1) yield drawer.draw();
  }

  /** Sends each as soon as a connection is free. @param url another node of the same cluster */
  async closed(requests: Iterable<Request>, connections: number, url?: URL): Promise<Burst> {
    return this.#send(requests, connections, undefined, url);
  }

  /** Sends `perSecond` requests a second, whatever is answered. @param url as above */
  async open(
    requests: Iterable<Request>,
    connections: number,
    perSecond: number,
    url?: URL,
  ): Promise<Burst> {
    return this.#send(requests, connections, perSecond, url);
  }

  /** The bytes of requests, with credentials of this second. */
  bytes(requests: readonly Request[]): Buffer[] {
    return requests.map((request) => this.#bytesOf(request));
  }

  #bytesOf(request: Request): Buffer {
    const now = Math.floor(Date.now() / 1000);
    return bytesOf(request, this.#url, this.#signing.credentialPrefix, now);
  }

  async #send(
    requests: Iterable<Request>,
    connections: number,
    perSecond: number | undefined,
    url = this.#url,
  ): Promise<Burst> {
    const orders: number[] = [];
    const bytesOfEach = function* (this: Traffic): Generator<Buffer> {
      for (const request of requests) {
        orders.push(request.orders);
        yield this.#bytesOf(request);
      }
    };
    const packed = PackedRequests.of(bytesOfEach.call(this));
    const plan = {
      url,
      connections,
      requests: packed,
      dueMs: perSecond === undefined ? undefined : evenly(packed.length, perSecond),
      drainMs: DRAIN_MS,
    };
    const rows = new SampleRows(packed.length);
    const outcomes = new Outcomes();
    const sender = new Sender(plan, (sent) => {
      const sample: Sample = { ...sent, kind: KIND, orders: orders[sent.index]! };
      outcomes.count(KIND, sample.orders, sent);
      rows.add(sample);
    });
    await sender.connect();
    const startMs = monotonicMs();
    await sender.run(startMs);
    const others = [...outcomes.counts.keys()].filter((outcome) => outcome !== WELL[KIND]);
    if (others.length > 0) throw new Error(`orders ended otherwise: ${others.join('; ')}`);
    return { ...figuresOf(rows.take()), startMs };
  }
}

function evenly(requests: number, perSecond: number): Float64Array {
  return arrivalsOf('even', requests, perSecond, { index: 0, processes: 1 }, new Random('even'));
}

function figuresOf(samples: Float64Array): Omit<Burst, 'startMs'> {
  const latencyMs: number[] = [];
  let begin = Number.POSITIVE_INFINITY;
  let end = 0;
  let orders = 0;
  for (const one of samplesOf(samples)) {
    latencyMs.push(one.latencyMs);
    begin = Math.min(begin, one.dueMs);
    end = Math.max(end, one.dueMs + one.latencyMs);
    orders += one.orders;
  }
  return { latencyMs, ordersPerSecond: (1000 * orders) / (end - begin), samples };
}

function optionsOf(orders: number, wallets: number): Omit<MeasureOptions, 'url'> {
  const parsed = parseMeasureOptions(
    [
      ...['--rate', 'max', '--orders', String(orders), '--mix', MIX, '--seed', 'order-path'],
      ...['--wallets', String(wallets), '--markets', String(MARKETS)],
    ],
    Date.now(),
  );
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.options;
}
