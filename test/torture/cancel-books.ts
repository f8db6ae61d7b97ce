/**
 * Books of cancels: a trader who rests orders, cancels some of them, and repeats every request
 * without an answer. Every answer must hold to the end.
 */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import type { Reply } from '../common/node-harness.ts';
import type { Random } from '../common/random.ts';
import { bodyOf, type Canceled, MICRO, type Result, Trader } from '../common/traders.ts';

export interface MortalNode {
  readonly port: number;
  ready(): Promise<void>;
}

const ORDERS = 5;
/** Far longer than a fault and the start after it. */
const ANSWER_MS_MAX = 120_000;
const RETRY_MS = 20;

export class CancelBooks {
  /** Newest answer about each order, by id: `live` or `canceled`. */
  readonly told = new Map<string, string>();
  lost = 0;
  /** Micro-units that each live order reserves of a ledger. */
  private readonly costs = new Map<string, bigint>();
  /** Micro-units that the trader got; `undefined` without a ledger. */
  private readonly paidIn: bigint | undefined;
  private readonly node: MortalNode;
  private readonly trader: Trader;
  private readonly market: CatalogMarket;
  private readonly random: Random;

  private constructor(
    node: MortalNode,
    trader: Trader,
    market: CatalogMarket,
    random: Random,
    paidIn: bigint | undefined,
  ) {
    this.paidIn = paidIn;
    this.node = node;
    this.trader = trader;
    this.market = market;
    this.random = random;
  }

  /** @param faucet units that a wallet gets; 0 = the node has no ledger */
  static async open(
    node: MortalNode,
    market: CatalogMarket,
    random: Random,
    faucet: number,
  ): Promise<CancelBooks> {
    const trader = await Trader.join(node, `cancels ${random.next()}`);
    const paidIn = faucet === 0 ? undefined : BigInt(faucet) * BigInt(MICRO);
    return new CancelBooks(node, trader, market, random, paidIn);
  }

  async round(): Promise<void> {
    const { market, random, told, trader } = this;
    const shares = Math.ceil(market.minSizeMicro / 1_000_000) + random.below(20);
    const ticks = 1 + random.below(Math.floor(market.ticksPerUnit / 4));
    const orders = Array.from({ length: ORDERS }, () =>
      trader.sign({ market, side: 'BUY', ticks, shares }),
    );
    const body = bodyOf(orders);
    const placed = await this.until(() => trader.postText(this.node, body));
    for (const [i, { errorMsg, orderID, status }] of (placed.json as Result[]).entries()) {
      assert(errorMsg === '' || errorMsg.includes('Duplicated'), errorMsg);
      assert.deepEqual([orderID, status], [orders[i]!.id, 'live'], 'nobody trades against it');
      told.set(orderID, 'live');
      this.costs.set(orderID, BigInt(String(orders[i]!.item.order.makerAmount)));
    }
    const live = [...told.keys()].filter((id) => told.get(id) === 'live');
    const doomed = live.filter(() => random.chance(50));
    if (doomed.length === 0) return;
    const before = this.lost;
    const reply = await this.until(() =>
      trader.ask(this.node, 'DELETE', '/orders', JSON.stringify(doomed)),
    );
    const { canceled, not_canceled } = reply.json as Canceled;
    if (this.lost === before) assert.deepEqual([...canceled].sort(), [...doomed].sort());
    const answered = [...canceled, ...Object.keys(not_canceled)].sort();
    assert.deepEqual(answered, [...doomed].sort(), 'those that went before an answer was lost');
    for (const id of doomed) told.set(id, 'canceled');
  }

  /** Checks that every order has its answered state, and no other is open. */
  async check(): Promise<void> {
    const { node, told, trader } = this;
    for (const [id, status] of told) {
      const { json } = await this.until(() => trader.ask(node, 'GET', `/data/order/${id}`));
      assert.equal(String((json as { status: string }).status).toLowerCase(), status, id);
    }
    let open = 0;
    for (let cursor = ''; cursor !== 'LTE='; ) {
      const query = cursor === '' ? '' : `?next_cursor=${cursor}`;
      const { json } = await this.until(() => trader.call(node, 'GET', '/data/orders', query));
      const page = json as { readonly data: readonly unknown[]; readonly next_cursor: string };
      open += page.data.length;
      cursor = page.next_cursor;
    }
    const live = [...told.keys()].filter((id) => told.get(id) === 'live');
    assert.equal(open, live.length);
    if (this.paidIn === undefined) return;
    const { json } = await this.until(() => trader.ask(node, 'GET', '/ledger/balance'));
    const reserved = live.reduce((sum, id) => sum + this.costs.get(id)!, 0n);
    const amounts = { total: this.paidIn, reserved, free: this.paidIn - reserved };
    const texts = Object.entries(amounts).map(([name, micro]) => [name, String(micro)]);
    assert.deepEqual(json, { cash: Object.fromEntries(texts), positions: [] });
  }

  /** Repeats a request until it is answered with 200. */
  private async until(send: () => Promise<Reply>): Promise<Reply> {
    for (const end = performance.now() + ANSWER_MS_MAX; performance.now() < end; ) {
      await this.node.ready();
      const reply = await send().catch(() => undefined);
      if (reply?.status === 200) return reply;
      assert(reply === undefined || reply.status === 503, reply?.text);
      this.lost += 1;
      await pause(RETRY_MS);
    }
    throw new Error(`no answer in ${ANSWER_MS_MAX} ms`);
  }
}
