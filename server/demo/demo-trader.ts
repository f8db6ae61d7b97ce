/**
 * A trader of the demo: a wallet with an API key that places and cancels orders over the public API, with the parts of
 * the client of this repository.
 *
 * Thread: the I/O thread. Not here: what it trades (demo-traders.ts).
 */
import { Calls, ServerClock } from '../../client/calls.ts';
import { signingDomainOf } from '../../client/exchange.ts';
import { HttpClient } from '../../client/http.ts';
import { Keys } from '../../client/keys.ts';
import { MarketData } from '../../client/market-data.ts';
import { Orders, type OrderTerms } from '../../client/orders.ts';
import type { ExchangeInfoAnswer } from '../../client/types.ts';
import { Wallet } from '../../client/wallet.ts';

/** Another source address than that of clients on this machine, whose rate limits stay their own. */
const LOCAL_ADDRESS = '127.0.0.2';
/** A request is sent once: after a failure all traders rest. */
const PATIENCE_MS = 0;
const CONNECTIONS = 3;

export class DemoExchange {
  readonly info: ExchangeInfoAnswer;
  readonly marketData: MarketData;
  private readonly http: HttpClient;

  private constructor(http: HttpClient, info: ExchangeInfoAnswer) {
    this.http = http;
    this.info = info;
    this.marketData = new MarketData(new Calls(http, clockOf(info), PATIENCE_MS, '', undefined));
  }

  static async connect(url: URL, signal: AbortSignal): Promise<DemoExchange> {
    const options = { connections: CONNECTIONS };
    const local = { ...options, localAddress: LOCAL_ADDRESS };
    try {
      return await DemoExchange.open(url, url.hostname === '127.0.0.1' ? local : options, signal);
    } catch (error) {
      if (!String(error).includes('EADDRNOTAVAIL')) throw error;
      // Not every system has all of 127.0.0.0/8.
      return DemoExchange.open(url, options, signal);
    }
  }

  private static async open(
    url: URL,
    options: ConstructorParameters<typeof HttpClient>[1],
    signal: AbortSignal,
  ): Promise<DemoExchange> {
    signal.throwIfAborted();
    const http = new HttpClient(url, options);
    signal.addEventListener('abort', () => http.close(), { once: true });
    const { body, status } = await http.send('GET', '/exchange-info');
    if (status !== 200) throw new Error(`GET /exchange-info answered ${status}: ${body}`);
    return new DemoExchange(http, JSON.parse(body) as ExchangeInfoAnswer);
  }

  /** A trader with the API key of its wallet, which is the same at every start. */
  async join(privateKey: string): Promise<DemoTrader> {
    const { http, info } = this;
    const { chain_id: chain, credential_prefix: prefix } = info;
    const wallet = new Wallet(privateKey);
    const open = new Calls(http, clockOf(info), PATIENCE_MS, prefix, undefined);
    const key = await new Keys(open, prefix, chain).create(wallet);
    const identity = { address: wallet.address, key };
    const calls = new Calls(http, clockOf(info), PATIENCE_MS, prefix, identity);
    const orders = new Orders(calls, wallet, signingDomainOf(info));
    return new DemoTrader(wallet.address, orders, info);
  }
}

export class DemoTrader {
  /** Checksummed: 0x + 40 hex digits. */
  readonly address: string;
  private readonly orders: Orders;
  private readonly info: ExchangeInfoAnswer;

  constructor(address: string, orders: Orders, info: ExchangeInfoAnswer) {
    this.address = address;
    this.orders = orders;
    this.info = info;
  }

  /** Returns the id of each order, '' where it was refused. */
  async post(terms: readonly OrderTerms[]): Promise<string[]> {
    const ids: string[] = [];
    const { max_batch_orders: most } = this.info;
    for (let from = 0; from < terms.length; from += most) {
      const placed = await this.orders.postAll(terms.slice(from, from + most));
      ids.push(...placed.map(({ id, status }) => (status === 'refused' ? '' : id)));
    }
    return ids;
  }

  async cancel(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.orders.cancelMany(ids);
  }

  async cancelAll(): Promise<void> {
    await this.orders.cancelAll();
  }
}

function clockOf({ server_time }: ExchangeInfoAnswer): ServerClock {
  const clock = new ServerClock(Date.now);
  clock.set(server_time);
  return clock;
}
