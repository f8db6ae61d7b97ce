/**
 * State that a measuring run sets up on the node before the clock starts and takes back afterwards: API
 * keys, and makers' orders deep enough for every FOK order of the run.
 * Thread: the tool's only one.
 * Non-goals: being measured.
 */
import { level2 } from '../../client/credentials.ts';
import type { SigningDomain } from '../../client/exchange.ts';
import type { HttpClient } from '../../client/http.ts';
import { Wallet } from '../../client/wallet.ts';
import { BUY, SELL } from '../load/load-book.ts';
import { keysOf, type Level1, refusal } from '../load/load-client.ts';
import { createKeys, type Trader } from '../load/load-keys.ts';
import type { LoadMarket } from '../load/load-market.ts';
import { signOrder } from '../load/load-orders.ts';
import { walletSeed } from './job.ts';
import { bookTokens, makerOrders } from './ladder.ts';
import { type MeasureOptions, ordersOf } from './measure-options.ts';
import { THROTTLED_ADVICE } from './report.ts';

/** Orders of one request of the makers; small enough for any node. */
const MAKER_BATCH = 10;
/** More than any run sells. */
const SETS_MICRO = String(10 ** 13);

export class Stage {
  readonly #client: HttpClient;
  readonly #level1: Level1;
  readonly #maker: Trader;
  /** Traders by the number of the wallet. */
  readonly traders: readonly Trader[];

  private constructor(
    client: HttpClient,
    level1: Level1,
    traders: readonly Trader[],
    maker: Trader,
  ) {
    this.#client = client;
    this.#level1 = level1;
    this.traders = traders;
    this.#maker = maker;
  }

  /** Issues the keys of all wallets. */
  static async open(client: HttpClient, level1: Level1, options: MeasureOptions): Promise<Stage> {
    const wallets = Array.from({ length: options.wallets + 1 }, (_, i) =>
      Wallet.fromSeed(walletSeed(options, i)),
    );
    const traders = await createKeys(keysOf(client, level1), wallets);
    const maker = traders.pop();
    if (maker === undefined) throw new Error('there is always a maker');
    return new Stage(client, level1, traders, maker);
  }

  /** With a ledger: complete sets of every market for all, of the money that their keys brought. */
  async split(markets: readonly LoadMarket[]): Promise<void> {
    let splits = 0;
    for (const trader of [...this.traders, this.#maker]) {
      for (const { conditionId } of markets) {
        splits += 1;
        const id = `${Date.now()}-stage-${splits}`;
        const body = JSON.stringify({ conditionId, amount: SETS_MICRO, id });
        await this.#send(trader, 'POST', '/split', body);
      }
    }
  }

  /** Rests the makers' orders. Throws when the node refuses one. */
  async fill(
    markets: readonly LoadMarket[],
    context: SigningDomain,
    options: MeasureOptions,
  ): Promise<void> {
    const tokens = bookTokens(markets);
    const foks = (ordersOf(options) * options.mix.fok) / 100;
    const taken = foks / tokens.length / 2;
    const orders = tokens.flatMap((token) =>
      [BUY, SELL].flatMap((side) => makerOrders(token, 0, side as typeof BUY, taken)),
    );
    const signer = { wallet: this.#maker.wallet, owner: this.#maker.key.apiKey };
    const items = orders.map((order, i) => {
      const salt = `${options.run}0${String(i).padStart(9, '0')}`;
      return signOrder(order, signer, context, salt).item;
    });
    for (let from = 0; from < items.length; from += MAKER_BATCH) {
      const body = `[${items.slice(from, from + MAKER_BATCH).join(',')}]`;
      const results = (await this.#send(this.#maker, 'POST', '/orders', body)) as Placed[];
      const refused = results.find(({ success }) => !success);
      if (refused !== undefined) throw new Error(`a maker's order: ${refused.errorMsg}`);
    }
  }

  /** Cancels all that still rests of every wallet. */
  async clear(): Promise<void> {
    for (const trader of [...this.traders, this.#maker]) {
      await this.#send(trader, 'DELETE', '/cancel-all', '');
    }
  }

  async #send(
    trader: Trader,
    method: 'POST' | 'DELETE',
    path: string,
    body: string,
  ): Promise<unknown> {
    const { wallet, key } = trader;
    const now = String(Math.floor(Date.now() / 1000));
    const { prefix } = this.#level1;
    const headers = level2(prefix, wallet.address, key, method, path, body, now);
    const reply = await this.#client.send(method, path, headers, body);
    if (reply.status === 200) return JSON.parse(reply.body);
    if (reply.status === 429) throw new Error(THROTTLED_ADVICE);
    throw new Error(refusal(method, path, reply));
  }
}

interface Placed {
  readonly success: boolean;
  readonly errorMsg: string;
}
