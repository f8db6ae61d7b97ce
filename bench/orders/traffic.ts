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
import { bytesOf, Drawer, type Request } from '../measure/prepare.ts';
import { Sender, type Sent } from '../measure/sender.ts';
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
  /** Each request; `dueMs` is relative to `startMs` of the machine's monotonic clock. */
  readonly sent: readonly Sent[];
  readonly startMs: number;
}

const WALLETS = 8;
const MARKETS = 12;
const DRAIN_MS = 10_000;

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
    const drawer = this.#drawers.get(batch) ?? this.#drawer(batch);
    this.#drawers.set(batch, drawer);
    return Array.from({ length: requests }, () => drawer.draw());
  }

  /** Sends each as soon as a connection is free. @param url another node of the same cluster */
  async closed(requests: readonly Request[], connections: number, url?: URL): Promise<Burst> {
    return this.#send(requests, connections, undefined, url);
  }

  /** Sends `perSecond` requests a second, whatever is answered. @param url as above */
  async open(
    requests: readonly Request[],
    connections: number,
    perSecond: number,
    url?: URL,
  ): Promise<Burst> {
    const share = { index: 0, processes: 1 };
    const due = arrivalsOf('even', requests.length, perSecond, share, new Random('even'));
    return this.#send(requests, connections, due, url);
  }

  /** The bytes of requests, with credentials of this second. */
  bytes(requests: readonly Request[]): Buffer[] {
    const now = Math.floor(Date.now() / 1000);
    const { credentialPrefix } = this.#signing;
    return requests.map((request) => bytesOf(request, this.#url, credentialPrefix, now));
  }

  async #send(
    requests: readonly Request[],
    connections: number,
    dueMs: Float64Array | undefined,
    url = this.#url,
  ): Promise<Burst> {
    const { sent, startMs } = await sendAll(url, this.bytes(requests), connections, dueMs);
    const outcomes = new Outcomes();
    for (const one of sent) {
      const { kind, orders } = requests[one.index]!;
      outcomes.count(kind, orders, one);
    }
    const others = [...outcomes.counts.keys()].filter((outcome) => outcome !== WELL.fok);
    if (others.length > 0) throw new Error(`orders ended otherwise: ${others.join('; ')}`);
    const ends = sent.map(({ dueMs: due, latencyMs }) => due + latencyMs);
    const begin = sent.reduce((least, { dueMs: due }) => Math.min(least, due), Infinity);
    const end = ends.reduce((most, each) => Math.max(most, each), 0);
    const orders = requests.reduce((sum, request) => sum + request.orders, 0);
    return {
      latencyMs: sent.map(({ latencyMs }) => latencyMs),
      ordersPerSecond: (1000 * orders) / (end - begin),
      sent,
      startMs,
    };
  }
}

/** Sends prepared requests to `url` over connections of their own. */
async function sendAll(
  url: URL,
  requests: readonly Buffer[],
  connections: number,
  dueMs?: Float64Array,
): Promise<Pick<Burst, 'sent' | 'startMs'>> {
  const sent: Sent[] = [];
  const plan = { url, connections, requests, dueMs, drainMs: DRAIN_MS };
  const sender = new Sender(plan, (one) => sent.push(one));
  await sender.connect();
  const startMs = monotonicMs();
  await sender.run(startMs);
  return { sent, startMs };
}

function optionsOf(orders: number, wallets: number): Omit<MeasureOptions, 'url'> {
  const parsed = parseMeasureOptions(
    [
      ...['--rate', 'max', '--orders', String(orders), '--mix', 'fok=100', '--seed', 'order-path'],
      ...['--wallets', String(wallets), '--markets', String(MARKETS)],
    ],
    Date.now(),
  );
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.options;
}
