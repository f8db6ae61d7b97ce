/**
 * The well-behaved client: a process with an address of its own that sends signed orders at a fixed
 * rate, independent of answers (open loop). It reads, opens a new connection now and then, and
 * subscribes to one market. Every answer is checked; no request may be refused, because all of them
 * are within the published caps.
 *
 * Latency counts from when a request was due. Beside the orders it measures a bare process
 * (bare-answer.ts) in the same way. The parent ends a stretch; its report comes when all of its
 * requests are answered, or too late to be.
 *
 * Thread: its only one.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CatalogMarket } from '../../../storage/catalog/catalog-file.ts';
import { send } from '../../common/node-harness.ts';
import { SocketClient } from '../../common/socket-client.ts';
import { type Canceled, type Result, type Signed, Trader } from '../../common/traders.ts';

export interface GoodTask {
  readonly port: number;
  readonly barePort: number;
  readonly address: string;
  readonly market: CatalogMarket;
}

/** A stretch of time: milliseconds of each order and of each bare answer, and faults. */
export interface Stretch {
  readonly orders: readonly number[];
  readonly bare: readonly number[];
  readonly requests: number;
  /** Requests that were not answered in time. */
  readonly late: number;
  readonly wrong: readonly string[];
}

const ORDER_MS = 10;
const READ_MS = 200;
const FRESH_MS = 500;
const STREAM_MS = 1_000;
const BARE_MS = 20;
const PING_MS = 10_000;
/** Milliseconds after which an answer counts as missing. */
const LATE_MS = 10_000;
const CONNECTIONS = 16;
/** Number of orders after which resting ones are cancelled. */
const CANCEL_EVERY = 40;
const WRONG_MAX = 20;

const DEEP_TICKS = 60;
const REST_TICKS = 10;
const SHARES = 5;
const DEEP_SHARES = 100_000_000;

interface Prepared {
  readonly order: Signed;
  readonly wanted: 'matched' | 'live';
}

class Account {
  readonly orders: number[] = [];
  readonly bare: number[] = [];
  readonly wrong: string[] = [];
  requests = 0;
  late = 0;
  open = 0;

  fail(what: string): void {
    if (this.wrong.length < WRONG_MAX) this.wrong.push(what);
  }
}

class GoodClient {
  account = new Account();
  private readonly task: GoodTask;
  private readonly trader: Trader;
  private readonly agent: Agent;
  private readonly stream: SocketClient;
  /** Ids of answered orders that rest and are not cancelled. */
  private resting: string[] = [];
  /** Signed ahead, so that signing does not count into an order's time. */
  private next: Prepared;
  private placed = 0;
  private turn = 0;
  private trades = 0;
  private readonly sequences = new Map<string, string>();

  private constructor(task: GoodTask, trader: Trader, agent: Agent, stream: SocketClient) {
    this.task = task;
    this.trader = trader;
    this.agent = agent;
    this.stream = stream;
    this.next = this.sign();
  }

  static async start(task: GoodTask): Promise<GoodClient> {
    const { address, market } = task;
    const agent = new Agent({
      keepAlive: true,
      maxSockets: CONNECTIONS,
      scheduling: 'fifo',
      localAddress: address,
    });
    const trader = await Trader.join(task, 'good', undefined, agent);
    const deep = trader.sign({ market, side: 'SELL', ticks: DEEP_TICKS, shares: DEEP_SHARES });
    const stream = await SocketClient.open(task, '/ws/market', { from: address });
    const client = new GoodClient(task, trader, agent, stream);
    stream.onText = (text) => client.heard(text);
    stream.send({ type: 'market', assets_ids: [market.tokenIds[0]] });
    await client.post(deep, 'live');
    // All that rests is cancelled again, but this.
    client.resting = [];
    return client;
  }

  run(): void {
    this.every(ORDER_MS, (account, due) => this.order(account, due));
    this.every(READ_MS, (account) => this.read(account, this.agent));
    this.every(FRESH_MS, (account) => this.read(account, undefined));
    this.every(STREAM_MS, (account) => this.settle(account, this.visit()));
    const bare = connect(this.task.barePort, '127.0.0.1').setNoDelay(true);
    const asked: { readonly account: Account; readonly due: number }[] = [];
    bare.on('data', (answers: Buffer) => {
      const now = performance.now();
      for (const _ of answers) {
        const { account, due } = asked.shift()!;
        account.bare.push(now - due);
        account.open -= 1;
      }
    });
    this.every(BARE_MS, (account, due) => {
      account.open += 1;
      asked.push({ account, due });
      bare.write('.');
    });
    setInterval(() => this.stream.send('PING'), PING_MS);
  }

  /** Ends the stretch; resolves when none of its requests is open. */
  async stretch(): Promise<Stretch> {
    const { account } = this;
    this.account = new Account();
    if (this.stream.closed !== undefined) {
      const { code, reason } = this.stream.closed;
      account.fail(`its stream was closed: ${code} ${reason}`);
    }
    const deadline = performance.now() + 2 * LATE_MS;
    // Orders go on, so that of a stream that lives there is a trade to come.
    const isOpen = (): boolean => account.open > 0 || this.trades === 0;
    while (isOpen() && performance.now() < deadline) await sleep(10);
    if (this.trades === 0) account.fail('its stream told of no trade');
    this.trades = 0;
    if (account.open > 0) account.fail(`${account.open} requests were never settled`);
    const { bare, late, orders, requests, wrong } = account;
    return { orders, bare, requests, late, wrong };
  }

  /** Calls at a fixed rate, also for times that the timers of a busy process have missed. */
  private every(eachMs: number, act: (account: Account, due: number) => void): void {
    const began = performance.now();
    let count = 0;
    const tick = (): void => {
      const now = performance.now();
      for (; began + count * eachMs <= now; count++) act(this.account, began + count * eachMs);
      setTimeout(tick, began + count * eachMs - performance.now());
    };
    tick();
  }

  private order(account: Account, due: number): void {
    this.turn += 1;
    if (this.turn % CANCEL_EVERY === 0 && this.resting.length > 0) {
      this.settle(account, this.cancel(), due);
      return;
    }
    const { order, wanted } = this.next;
    this.settle(account, this.post(order, wanted), due);
    this.next = this.sign();
  }

  private settle(account: Account, done: Promise<void>, due?: number): void {
    account.open += 1;
    account.requests += 1;
    const over = new AbortController();
    const tooLate = sleep(LATE_MS, undefined, { signal: over.signal }).then(() => {
      account.late += 1;
    });
    Promise.race([done, tooLate])
      .catch((error: unknown) =>
        account.fail(String(error instanceof Error ? error.message : error)),
      )
      .finally(() => {
        over.abort();
        if (due !== undefined) account.orders.push(performance.now() - due);
        account.open -= 1;
      });
    tooLate.catch(() => undefined);
    done.catch(() => undefined);
  }

  /** Orders that fill at once and orders that rest, alternately. */
  private sign(): Prepared {
    const { market } = this.task;
    const fills = this.placed % 2 === 0;
    this.placed += 1;
    const order = this.trader.sign({
      market,
      side: 'BUY',
      ticks: fills ? DEEP_TICKS : REST_TICKS,
      shares: SHARES,
      type: fills ? 'FOK' : 'GTC',
    });
    return { order, wanted: fills ? 'matched' : 'live' };
  }

  private async post(order: Signed, wanted: string): Promise<void> {
    const body = JSON.stringify([order.item]);
    const headers = this.trader.headers(body);
    const { status, text, json } = await send(
      this.task,
      'POST',
      '/orders',
      headers,
      body,
      this.agent,
    );
    assert.equal(status, 200, `POST /orders: ${status} ${text.slice(0, 200)}`);
    const [result] = json as Result[];
    assert.equal(result?.status, wanted, `an order: ${text.slice(0, 200)}`);
    if (wanted === 'live') this.resting.push(order.id);
  }

  private async cancel(): Promise<void> {
    const ids = this.resting;
    this.resting = [];
    const body = JSON.stringify(ids);
    const reply = await this.trader.ask(this.task, 'DELETE', '/orders', body, this.agent);
    assert.equal(reply.status, 200, `DELETE /orders: ${reply.status} ${reply.text.slice(0, 200)}`);
    const { canceled } = reply.json as Canceled;
    assert.equal(canceled.length, ids.length, 'not all orders that rest were cancelled');
  }

  private read(account: Account, agent: Agent | undefined): void {
    const token = this.task.market.tokenIds[0]!;
    const paths = [`/book?token_id=${token}`, '/trades?limit=10', '/time'];
    const path = paths[account.requests % paths.length]!;
    const connection = agent ?? new Agent({ keepAlive: false, localAddress: this.task.address });
    const done = send(this.task, 'GET', path, {}, '', connection).then(({ status, text }) =>
      assert.equal(status, 200, `GET ${path}: ${status} ${text.slice(0, 200)}`),
    );
    this.settle(account, done);
  }

  /** Opens a stream connection, receives the book, and closes it. */
  private async visit(): Promise<void> {
    const { address, market } = this.task;
    const stream = await SocketClient.open(this.task, '/ws/market', { from: address });
    stream.send({ type: 'market', assets_ids: [market.tokenIds[1]] });
    const { event_type } = await stream.json();
    stream.cut();
    assert.equal(event_type, 'book', 'what a stream tells first');
  }

  /** Checks that no message of a stream is missing between two. */
  private heard(text: string): void {
    if (text === 'PONG') return;
    const event = JSON.parse(text) as Record<string, string>;
    const { error, event_type, previous = '', sequence = '', stream_id = '' } = event;
    if (error !== undefined) this.account.fail(`its stream was told: ${error}`);
    if (event_type === 'last_trade_price') this.trades += 1;
    const before = this.sequences.get(stream_id);
    if (before !== undefined && previous > before) {
      this.account.fail(`its stream goes on behind ${previous} after ${before}`);
    }
    this.sequences.set(stream_id, sequence);
  }
}

const [task] = (await once(process, 'message')) as [GoodTask];
const client = await GoodClient.start(task);
client.run();
process.on('message', () => {
  void client.stretch().then((stretch) => process.send?.(stretch));
});
process.once('disconnect', () => process.exit(0));
process.send?.('ready');
