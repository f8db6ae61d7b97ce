/**
 * One load run against a node that is up: keys, rounds of signing ahead and sending, kills in the
 * middle of it, and the comparisons before and after.
 * Thread: the tool's only one, so what is signed ahead does not disturb the times of the sending.
 * Non-goals: the command line and the node's life (load.ts).
 */
import { setImmediate as breathe, setTimeout as pause } from 'node:timers/promises';
import type { SigningDomain } from '../../client/exchange.ts';
import type { HttpClient } from '../../client/http.ts';
import type { Keys } from '../../client/keys.ts';
import { Wallet } from '../../client/wallet.ts';
import type { Config } from '../../server/config/config.ts';
import { Random } from '../random.ts';
import { compareBooks, compareLastPrices, compareTrades, seedBooks } from './load-check.ts';
import { keysOf, type Level1, openClient } from './load-client.ts';
import { compareKeys, createKeys, type Trader } from './load-keys.ts';
import { Ledger } from './load-ledger.ts';
import type { LoadMarket, LoadToken } from './load-market.ts';
import { LoadMoney, type Sums, sumsOf } from './load-money.ts';
import { type LocalNode, untilUp } from './load-node.ts';
import type { LoadOptions } from './load-options.ts';
import { exchangeOf, OrderSource, signOrder } from './load-orders.ts';
import { Progress } from './load-progress.ts';
import { type Batch, sendBatch } from './load-sender.ts';

/** Orders that are signed ahead and then sent. */
const ROUND_ORDERS = 6000;
const DIFFERENCES_SHOWN = 40;
/** A row of GET /trades shows within a second (docs/protocol.md#public-trades). */
const TRADES_CACHE_MS = 1200;
const KILL_DELAY_MS_MAX = 8;

type RunConfig = Pick<
  Config,
  | 'chainId'
  | 'credentialPrefix'
  | 'domainName'
  | 'domainVersion'
  | 'exchangeAddress'
  | 'negRiskExchangeAddress'
> &
  // With a ledger: what the node gives to the wallets.
  Partial<Pick<Config, 'ledger' | 'faucet'>>;

export class LoadRun {
  readonly #options: LoadOptions;
  readonly #url: URL;
  readonly #node: LocalNode | undefined;
  readonly #markets: readonly LoadMarket[];
  readonly #tokens: readonly LoadToken[];
  readonly #level1: Level1;
  readonly #exchange: SigningDomain;
  readonly #reader: HttpClient;
  readonly #keys: Keys;
  readonly #ledger = new Ledger();
  readonly #progress: Progress;
  readonly #random: Random;
  /** Units that each wallet gets; 0 = the node has no ledger. */
  readonly #faucet: number;
  #traders: readonly Trader[] = [];
  #money: LoadMoney | undefined;
  #kills = 0;
  #isStriking = false;
  /** Requests and orders whose fate was unknown for a while, because an answer was lost. */
  #unknownRequests = 0;
  #unknownOrders = 0;
  #throttled = 0;

  constructor(
    options: LoadOptions,
    config: RunConfig,
    markets: readonly LoadMarket[],
    node: LocalNode | undefined,
    write: (text: string) => void,
  ) {
    this.#options = options;
    this.#url = node?.url ?? options.url;
    this.#node = node;
    this.#markets = markets;
    this.#tokens = markets.flatMap((market) => market.tokens);
    this.#level1 = { prefix: config.credentialPrefix, chainId: config.chainId };
    this.#exchange = exchangeOf(config);
    this.#reader = openClient(this.#url);
    this.#keys = keysOf(this.#reader, this.#level1);
    this.#progress = new Progress(this.#ledger, options.orders, write);
    this.#random = new Random(options.seed);
    this.#faucet = config.ledger === true ? (config.faucet ?? 0) : 0;
  }

  /** True when the node and the tool's bookkeeping agree to the end. */
  async run(): Promise<boolean> {
    const { orders, batch, wallets, seed, run } = this.#options;
    this.#progress.say(
      `${orders} orders in batches of ${batch} to ${this.#url.origin}: ${wallets} wallets, ` +
        `${this.#markets.length} markets with ${this.#tokens.length} tokens, ` +
        `--seed ${seed} --run ${run}`,
    );
    try {
      const owners = Array.from({ length: wallets }, (_, i) =>
        Wallet.fromSeed(`load/${seed}/${run}/${i}`),
      );
      const sums = await this.#sums();
      this.#traders = await createKeys(this.#keys, owners);
      if (this.#faucet > 0) await this.#splitMoney(sums);
      await seedBooks(this.#reader, this.#tokens);
      if (!(await this.#agrees('before the first order'))) return false;
      await this.#sendAll();
      this.#progress.say(this.#progress.summary());
      this.#reportUnknown();
      let agrees = await this.#agrees('after the load');
      if (agrees && this.#options.kills > 0 && this.#node !== undefined) {
        await this.#node.killAndRestart();
        agrees = await this.#agrees('after one more kill -9 and restart');
      }
      return agrees;
    } finally {
      this.#reader.close();
    }
  }

  /** Rounds of signing and sending; each market belongs to one connection for the whole run. */
  async #sendAll(): Promise<void> {
    const { orders, batch, connections, seed } = this.#options;
    const lanes = Array.from({ length: Math.min(connections, this.#markets.length) }, (_, lane) => {
      const own = this.#markets.filter(({ index }) => index % connections === lane);
      const source = new OrderSource(new Random(`${seed}/${lane}`), own);
      const queue: Batch[] = [];
      return { client: openClient(this.#url), source, queue };
    });
    try {
      for (let signed = 0; signed < orders; ) {
        const end = Math.min(orders, signed + ROUND_ORDERS);
        for (let turn = 0; signed < end; turn += 1) {
          const lane = lanes[turn % lanes.length];
          const size = Math.min(batch, end - signed);
          lane?.queue.push(this.#prepare(lane.source, signed, size));
          signed += size;
          this.#progress.signing(signed);
          await breathe(); // so that a connection closed meanwhile is noticed before it is used
        }
        this.#progress.startSending();
        await Promise.all(lanes.map(({ client, queue }) => this.#sendQueue(client, queue)));
        this.#progress.stopSending();
      }
    } finally {
      for (const { client } of lanes) client.close();
    }
  }

  #prepare(source: OrderSource, signed: number, size: number): Batch {
    const account = this.#random.below(this.#traders.length);
    const trader = this.#traders[account];
    if (trader === undefined) throw new Error('a load needs a wallet');
    const signer = { wallet: trader.wallet, owner: trader.key.apiKey };
    const orders = Array.from({ length: size }, (_, i) => {
      const salt = `${this.#options.run}${String(signed + i).padStart(9, '0')}`;
      return signOrder(source.draw(account), signer, this.#exchange, salt);
    });
    return { trader, orders, body: `[${orders.map(({ item }) => item).join(',')}]` };
  }

  async #sendQueue(client: HttpClient, queue: Batch[]): Promise<void> {
    for (let batch = queue.shift(); batch !== undefined; batch = queue.shift()) {
      const sending = sendBatch(client, this.#level1.prefix, batch, (again) => this.#ready(again));
      const striking = this.#strikeWhenDue();
      const [{ answers, lost, throttled, latencyMs }] = await Promise.all([sending, striking]);
      this.#throttled += throttled;
      if (lost > 0) {
        this.#unknownRequests += 1;
        this.#unknownOrders += batch.orders.length;
      }
      this.#ledger.settle(batch.orders, answers, lost);
      this.#progress.answered(latencyMs);
    }
  }

  /** Kills spread evenly over the load, each a few milliseconds into a request. */
  async #strikeWhenDue(): Promise<void> {
    const { orders, kills } = this.#options;
    const due = Math.floor((orders * (this.#kills + 1)) / (kills + 1));
    const node = this.#node;
    if (node === undefined || this.#kills >= kills || this.#ledger.counts.settled < due) return;
    // Another connection may still look at what the last kill has left.
    if (this.#isStriking) return;
    this.#isStriking = true;
    this.#kills += 1;
    await pause(this.#random.below(KILL_DELAY_MS_MAX));
    this.#progress.say(`kill -9 after ${this.#ledger.counts.settled} settled orders`);
    await node.killAndRestart();
    const differences = await compareKeys(this.#keys, this.#traders);
    const sums = await this.#sums();
    if (sums !== undefined) differences.push(...(this.#money?.compareSums(sums) ?? []));
    this.#ledger.differences.push(...differences);
    this.#isStriking = false;
  }

  async #ready(again: boolean): Promise<void> {
    if (this.#node !== undefined) await this.#node.ready();
    else if (again) await untilUp(this.#url, () => undefined);
  }

  async #splitMoney(before: Sums | undefined): Promise<void> {
    const { prefix } = this.#level1;
    const parts = [this.#traders, this.#markets, this.#faucet, before] as const;
    this.#money = await LoadMoney.open(this.#reader, prefix, ...parts);
    this.#progress.say(`each wallet has ${this.#faucet} units, half of them in complete sets`);
  }

  async #sums(): Promise<Sums | undefined> {
    if (this.#faucet === 0) return undefined;
    const reply = await this.#node?.operator('/admin/ledger');
    return reply && sumsOf(reply);
  }

  async #compareMoney(): Promise<readonly string[]> {
    const money = this.#money;
    if (money === undefined) return [];
    const sums = await this.#sums();
    return money.compare(this.#reader, this.#level1.prefix, this.#ledger, sums);
  }

  #reportUnknown(): void {
    const { recovered, rounded } = this.#ledger.counts;
    const say = (line: string): void => this.#progress.say(line);
    for (const [message, count] of this.#ledger.refusals) say(`  ${count} times: ${message}`);
    say(
      this.#unknownRequests === 0
        ? 'durability: known for every order, no answer was lost'
        : `durability: ${this.#unknownRequests} requests with ${this.#unknownOrders} orders lost ` +
            `their answer after ${this.#kills} kills; sent again byte for byte, ${recovered} of ` +
            'those orders had been taken and came back as duplicates; now known for every order',
    );
    if (this.#throttled > 0) {
      say(
        `${this.#throttled} requests met a rate limit (429) and were sent again later: ` +
          'RATE_LIMITS=off on the node makes the load faster',
      );
    }
    if (rounded > 0) say(`${rounded} fills rounded within the orders that were there before`);
  }

  /** Compares everything, prints the differences or that there are none. */
  async #agrees(when: string): Promise<boolean> {
    const addresses = this.#traders.map(({ wallet }) => wallet.address);
    const trades = (): Promise<string[]> =>
      compareTrades(this.#reader, this.#markets, addresses, this.#ledger);
    let differing = await trades();
    if (differing.length > 0) {
      await pause(TRADES_CACHE_MS);
      differing = await trades();
    }
    const differences = [
      ...this.#ledger.differences,
      ...(await compareKeys(this.#keys, this.#traders)),
      ...(await compareBooks(this.#reader, this.#tokens)),
      ...(await compareLastPrices(this.#reader, this.#tokens)),
      ...differing,
      ...(await this.#compareMoney()),
    ];
    const say = (line: string): void => this.#progress.say(line);
    for (const difference of differences.slice(0, DIFFERENCES_SHOWN)) say(difference);
    const agrees = differences.length === 0;
    say(
      agrees
        ? `${when}: all books, last prices${this.#money ? ', balances' : ''} and trades agree`
        : `${when}: ${differences.length} differences`,
    );
    return agrees;
  }
}
