/**
 * A load with books of its own, over all nodes at once: orders in markets of one sender each, whose
 * order is therefore known (bench/load); orders that are cancelled (cancel-books.ts); API keys
 * (key-books.ts). Requests without an answer are sent again, to any node.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { microText, priceText } from '../../../bench/load/load-amounts.ts';
import { BUY, SELL } from '../../../bench/load/load-book.ts';
import { compareBooks, compareTrades } from '../../../bench/load/load-check.ts';
import { keysOf, openClient } from '../../../bench/load/load-client.ts';
import { createKeys, type Trader } from '../../../bench/load/load-keys.ts';
import { Ledger } from '../../../bench/load/load-ledger.ts';
import { chooseMarkets, type LoadMarket, type LoadToken } from '../../../bench/load/load-market.ts';
import { LoadMoney } from '../../../bench/load/load-money.ts';
import {
  exchangeOf,
  type LoadOrder,
  OrderSource,
  signOrder,
} from '../../../bench/load/load-orders.ts';
import { sendBatch } from '../../../bench/load/load-sender.ts';
import { Random as LoadRandom } from '../../../bench/random.ts';
import type { SigningDomain } from '../../../client/exchange.ts';
import { Wallet } from '../../../client/wallet.ts';
import { readConfig } from '../../../server/config/config.ts';
import { SMALL_NODE } from '../../common/node-harness.ts';
import { Random } from '../../common/random.ts';
import { CancelBooks } from '../cancel-books.ts';
import { AnyNode } from './any-node.ts';
import type { History } from './history.ts';
import { KeyBooks, LEVEL1 } from './key-books.ts';
import { type Address, type ClusterStage, ROOM } from './stage.ts';

const LANES = 3;
const WALLETS = 4;
const BATCH_MAX = 4;
const REST_MS = 60;
const CANCELS_REST_MS = 300;
const KEYS_REST_MS = 1_000;

export interface Place {
  readonly bids: readonly { readonly price: string; readonly size: string }[];
  readonly asks: readonly { readonly price: string; readonly size: string }[];
}

/** Text of a book, equal for equal levels. */
export function stateOf({ asks, bids }: Place): string {
  const text = [bids, asks].map((side) => side.map(({ price, size }) => `${size}@${price}`));
  return createHash('sha1').update(JSON.stringify(text)).digest('base64');
}

function ownState({ book, market, slot }: LoadToken): string {
  const side = (which: typeof BUY | typeof SELL) =>
    book.levels(slot, which).map(({ micro, ticks }) => {
      return { price: priceText(ticks, market.ticksPerUnit), size: microText(micro) };
    });
  return stateOf({ bids: side(BUY), asks: side(SELL) });
}

export class ClusterLoad {
  readonly client: AnyNode;
  /** Tokens whose books are read: one of each book. */
  readonly tokens: readonly LoadToken[];
  readonly keys: KeyBooks;
  private readonly history: History;
  private readonly seed: number;
  private readonly ledger = new Ledger();
  private readonly markets: readonly LoadMarket[];
  private readonly exchange: SigningDomain;
  private readonly sources: readonly OrderSource[];
  private readonly random: Random;
  private traders: readonly Trader[] = [];
  private money!: LoadMoney;
  private cancels!: CancelBooks;
  /** Target of cancels: one node, or any. */
  private readonly target: { host: string; port: number; ready(): Promise<void> };
  private running: Promise<unknown> | undefined;
  private goesOn = false;
  private salt = 0;
  private wallets = 0;

  private constructor(stage: ClusterStage, history: History, seed: number) {
    const configured = readConfig({ ...SMALL_NODE, ...ROOM }, [], 1);
    assert(configured.ok);
    this.history = history;
    this.seed = seed;
    this.random = new Random(seed);
    this.client = new AnyNode(stage.addresses, new Random(seed));
    this.keys = new KeyBooks(this.client, this.random);
    const [, ...others] = stage.markets;
    this.markets = chooseMarkets(others, others.length, new LoadRandom(`${seed}`));
    this.tokens = this.markets.flatMap(({ tokens }) => tokens.filter(({ slot }) => slot === 0));
    this.exchange = exchangeOf(configured.config);
    this.sources = Array.from({ length: LANES }, (_, lane) => {
      const own = this.markets.filter(({ index }) => index % LANES === lane);
      return new OrderSource(new LoadRandom(`${seed}/${lane}`), own);
    });
    const next = async (): Promise<void> => {
      const leader = await stage.leader();
      Object.assign(this.target, stage.addresses[leader]);
    };
    this.target = { ...stage.addresses[0]!, ready: next };
  }

  static async open(stage: ClusterStage, history: History, seed: number): Promise<ClusterLoad> {
    const load = new ClusterLoad(stage, history, seed);
    const { client, markets, random, tokens } = load;
    const wallets = Array.from({ length: WALLETS }, () => load.wallet());
    load.traders = await createKeys(keysOf(client, LEVEL1), wallets);
    load.keys.live.push(...load.traders);
    const { prefix } = LEVEL1;
    const faucet = Number(ROOM.FAUCET);
    load.money = await LoadMoney.open(client, prefix, load.traders, markets, faucet, undefined);
    await load.target.ready();
    load.cancels = await CancelBooks.open(load.target, stage.markets[0]!, random, faucet);
    for (const token of tokens) history.open(token.tokenId, ownState(token));
    return load;
  }

  get acknowledged(): number {
    return this.ledger.counts.taken;
  }

  get recovered(): number {
    return this.ledger.counts.recovered;
  }

  get cancelled(): number {
    return [...this.cancels.told.values()].filter((status) => status === 'canceled').length;
  }

  start(): void {
    this.goesOn = true;
    const lanes = this.sources.map((source) => this.repeat(REST_MS, () => this.orders(source)));
    const cancels = this.repeat(CANCELS_REST_MS, () => this.cancels.round());
    const keys = this.repeat(KEYS_REST_MS, () => this.keys.round(this.wallet()));
    this.running = Promise.all([...lanes, cancels, keys]);
    // Whoever stops the load gets it.
    this.running.catch(() => undefined);
  }

  async goOn(): Promise<void> {
    await Promise.race([this.running, sleep(REST_MS)]);
  }

  /** Resolves once every sent request is answered. */
  async stop(): Promise<void> {
    this.goesOn = false;
    await this.running;
  }

  /** Differences between one node and the tool's own books, without requests in flight. */
  async compare(address: Address): Promise<string[]> {
    const { ledger, markets, money, traders } = this;
    const client = openClient(new URL(`http://${address.host}:${address.port}`));
    try {
      const tokens = markets.flatMap((market) => market.tokens);
      const addresses = traders.map(({ wallet }) => wallet.address);
      const differences = [
        ...ledger.differences.splice(0),
        ...(await compareBooks(client, tokens)),
        ...(await compareTrades(client, markets, addresses, ledger)),
        ...(await money.compare(client, LEVEL1.prefix, ledger, undefined)),
        ...(await this.keys.compare(client)),
      ];
      await this.compareCancels(address).catch((error: Error) => differences.push(error.message));
      return differences;
    } finally {
      client.close();
    }
  }

  close(): void {
    this.client.close();
  }

  private async compareCancels(address: Address): Promise<void> {
    const { ready } = this.target;
    Object.assign(this.target, { ...address, ready: async () => undefined });
    try {
      await this.cancels.check();
    } finally {
      this.target.ready = ready;
    }
  }

  private async repeat(restMs: number, round: () => Promise<void>): Promise<void> {
    while (this.goesOn) {
      await round();
      await sleep(restMs);
    }
  }

  private wallet(): Wallet {
    this.wallets += 1;
    return Wallet.fromSeed(`cluster/${this.seed}/${this.wallets}`);
  }

  private async orders(source: OrderSource): Promise<void> {
    const { client, exchange, history, ledger, random } = this;
    const account = random.below(this.traders.length);
    const trader = this.traders[account]!;
    const signer = { wallet: trader.wallet, owner: trader.key.apiKey };
    const orders = Array.from({ length: random.between(1, BATCH_MAX) }, () => {
      this.salt += 1;
      return signOrder(drawGtc(source, account), signer, exchange, `${this.seed}${this.salt}`);
    });
    const body = `[${orders.map(({ item }) => item).join(',')}]`;
    const books = orders.map(({ token }) => this.bookOf(token));
    for (const { tokenId } of books) history.sends(tokenId);
    const ready = (again: boolean): Promise<void> => sleep(again ? 20 : 0);
    const batch = { trader, orders, body };
    const { answers, lost } = await sendBatch(client, LEVEL1.prefix, batch, ready);
    assert.equal(answers.length, orders.length);
    for (const [i, order] of orders.entries()) {
      ledger.settle([order], [answers[i]!], lost);
      history.acknowledges(books[i]!.tokenId, ownState(books[i]!));
    }
  }

  /** Token whose book contains that of another one. */
  private bookOf({ book }: LoadToken): LoadToken {
    return this.tokens.find((token) => token.book === book)!;
  }
}

/**
 * An order that rests or trades at any time of its arrival, so that repeats after a lost answer
 * have the same effect.
 */
function drawGtc(source: OrderSource, account: number): LoadOrder {
  for (;;) {
    const order = source.draw(account);
    if (order.type === 'GTC') return order;
  }
}
