/**
 * Work of a sending process: prepares its share of the requests, waits for the start, sends, and
 * passes on what it sees.
 * Thread: the process's only one; the pacer has one of its own.
 * Non-goals: figures (the parent makes them), and how the parent is reached (measure-child.ts).
 */
import { setImmediate as breathe } from 'node:timers/promises';
import { Wallet } from '../../client/wallet.ts';
import { exchangeOf } from '../load/load-orders.ts';
import { targetMarkets } from '../load/load-target.ts';
import { Random } from '../random.ts';
import { arrivalsOf, shareOf } from './arrivals.ts';
import { type FromChild, type Job, walletSeed } from './job.ts';
import { requestsOf } from './measure-options.ts';
import { Outcomes, THROTTLED, UNANSWERED } from './outcomes.ts';
import { PackedRequests } from './packed-requests.ts';
import { type Account, bytesOf, Drawer, type Request } from './prepare.ts';
import { Fate, SampleRows } from './samples.ts';
import { Sender, type Sent } from './sender.ts';
import { unsignedBy } from './unsigned.ts';

const SIGNED_EVERY_MS = 500;
const SAMPLES_EVERY_MS = 250;
const DRAIN_MS = 10_000;
/** A cancel stays this many answers behind the orders that it takes back. */
const CANCEL_DISTANCE_CONNECTIONS = 4;

export class Sending {
  readonly #job: Job;
  readonly #tell: (message: FromChild) => void;
  readonly #rows = new SampleRows();
  readonly #outcomes = new Outcomes();
  #requests: readonly Pick<Request, 'kind' | 'orders'>[] = [];
  #sender: Sender | undefined;

  constructor(job: Job, tell: (message: FromChild) => void) {
    this.#job = job;
    this.#tell = tell;
  }

  async prepare(): Promise<void> {
    const { options, share, signing } = this.#job;
    const url = new URL(this.#job.url);
    const random = new Random(`${options.seed}/${share.index}`);
    const total = requestsOf({ ...options, url });
    const perSecond = options.rate === undefined ? undefined : options.rate / options.batch;
    const dueMs =
      perSecond === undefined
        ? undefined
        : arrivalsOf(options.arrivals, total, perSecond, share, random);
    const requests = await this.#draw(random, shareOf(total, share), url);
    // The second that a request names is about that in which it is sent.
    const now = Date.now();
    const bytes = function* (): Generator<Buffer> {
      for (const [i, request] of requests.entries()) {
        const seconds = Math.floor((now + (dueMs?.[i] ?? 0)) / 1000);
        yield bytesOf(request, url, signing.credentialPrefix, seconds);
      }
    };
    this.#requests = requests.map(({ kind, orders }) => ({ kind, orders }));
    const connections = shareOf(options.connections, share);
    const packed = PackedRequests.of(bytes());
    const plan = { url, connections, requests: packed, dueMs, drainMs: DRAIN_MS };
    this.#sender = new Sender(plan, (sent) => this.#settled(sent));
    await this.#sender.connect();
    this.#tell({ kind: 'ready' });
  }

  async send(startMs: number): Promise<void> {
    const sender = this.#sender!;
    const timer = setInterval(() => this.#tellSamples(), SAMPLES_EVERY_MS);
    await sender.run(startMs);
    clearInterval(timer);
    this.#tellSamples();
    this.#tell({ kind: 'done', outcomes: this.#outcomes.counts });
  }

  #tellSamples(): void {
    this.#tell({ kind: 'samples', rows: this.#rows.take(), waiting: this.#sender!.waiting });
  }

  async #draw(random: Random, count: number, url: URL): Promise<Request[]> {
    const { options, share, signing } = this.#job;
    const drawer = new Drawer({
      random,
      mix: options.mix,
      batch: options.batch,
      accounts: this.#accounts(),
      markets: await targetMarkets({ ...options, url }, options.markets),
      context: exchangeOf(signing),
      salts: `${options.run}${share.index + 1}`,
      cancelDistance: CANCEL_DISTANCE_CONNECTIONS * options.connections,
    });
    const requests: Request[] = [];
    let toldAt = performance.now();
    for (let i = 0; i < count; i += 1) {
      requests.push(drawer.draw());
      if (performance.now() - toldAt < SIGNED_EVERY_MS) continue;
      this.#tell({ kind: 'signed', requests: i + 1 });
      toldAt = performance.now();
      await breathe();
    }
    return requests;
  }

  #accounts(): Account[] {
    const { options, share, keys } = this.#job;
    return keys.map((key, i) => {
      const seed = walletSeed(options, i * share.processes + share.index);
      const own = Wallet.fromSeed(seed);
      const wallet = options.unsigned ? unsignedBy(own.address) : own;
      return { key, signer: { wallet, owner: key.apiKey } };
    });
  }

  #settled(sent: Sent): void {
    const { kind, orders } = this.#requests[sent.index]!;
    this.#rows.add({ ...sent, kind, orders });
    if (sent.status === 429) this.#sender!.stop();
    // The warm-up counts only where it shows that the run is worth nothing.
    if (sent.dueMs < this.#job.options.warmup * 1000 && sent.status !== 429) return;
    if (sent.status === 429) this.#outcomes.add(THROTTLED, orders);
    else if (sent.fate === Fate.unanswered) this.#outcomes.add(UNANSWERED, orders);
    else this.#outcomes.count(kind, orders, sent);
  }
}
