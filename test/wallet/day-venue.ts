/**
 * A venue over real HTTP, and beside it the naive exchange with the naive ledger. Each request is
 * repeated until it is answered, also while the node is killed and restarted; then the naive one
 * executes it, and the answers must agree.
 *
 * Requests of unrelated wallets and markets may be sent at the same time.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { RejectReason, type RejectReasonCode } from '../../engine/orders/reject-reasons.ts';
import type { OperationKey } from '../../server/admin/operation-table.ts';
import { REJECTS } from '../../server/common/refusals.ts';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { books, type Reply, type Settings } from '../common/node-harness.ts';
import {
  bodyOf,
  type Canceled,
  MICRO,
  type Result,
  type Terms,
  Trader,
} from '../common/traders.ts';
import { settlement } from '../engine/naive-book.ts';
import { NaiveExchange } from '../engine/naive-exchange.ts';
import { type FundsLine, NaiveLedger, type RequestLine } from '../engine/naive-ledger.ts';
import type { OrderLine, Outcome } from '../engine/naive-types.ts';

const RETRY_MS = 10;
const TRIES_MAX = 2_000;
const PIPS = 10_000;

export interface DayMarket {
  /** Number in the naive exchange; its tokens are 2 x number - 1 and 2 x number. */
  readonly number: number;
  readonly catalog: CatalogMarket;
  /** Basis points of a taker's fee. */
  readonly fee: number;
}

/** A wallet; its number is that of the naive exchange. */
export interface DayWallet {
  readonly number: number;
  readonly trader: Trader;
}

type Sent = Omit<Terms, 'market' | 'outcome'> & { readonly outcome: 0 | 1 };
type UserFunds = 'split' | 'merge';

const PAYMENTS = {
  deposit: 'POST /admin/ledger/deposit',
  withdraw: 'POST /admin/ledger/withdraw',
  payFees: 'POST /admin/ledger/fees/pay',
} as const;

function decimal(micro: number): string {
  return `${Math.floor(micro / MICRO)}.${String(micro % MICRO).padStart(6, '0')}`;
}

export class DayVenue {
  readonly exchange = new NaiveExchange();
  readonly ledger = new NaiveLedger(this.exchange, 2 ** 20);
  readonly markets: DayMarket[] = [];
  readonly wallets: DayWallet[] = [];
  /** Open orders of the naive exchange by their hashes. */
  readonly open = new Map<string, OrderLine>();
  readonly counts = { requests: 0, orders: 0, refused: 0, fills: 0, lost: 0, kills: 0 };
  operator: OperatorNode;
  private readonly dataDir: string;
  private readonly settings: Settings;
  /** Set while no node is up. */
  private restart: Promise<void> | undefined;
  private ids = 0;

  private constructor(operator: OperatorNode, dataDir: string, settings: Settings) {
    this.operator = operator;
    this.dataDir = dataDir;
    this.settings = settings;
    this.exchange.run({ kind: 'at', time: Date.now() });
  }

  static async open(dataDir: string, settings: Settings): Promise<DayVenue> {
    return new DayVenue(await OperatorNode.start(dataDir, settings), dataDir, settings);
  }

  get place(): { readonly port: number } {
    return { port: this.operator.node.port };
  }

  /** Sends SIGKILL, and starts another node on the same directory. */
  kill(): Promise<void> {
    this.counts.kills += 1;
    this.restart = (async () => {
      await this.operator.node.end('SIGKILL');
      this.operator = await OperatorNode.start(this.dataDir, this.settings);
    })();
    return this.restart.finally(() => {
      this.restart = undefined;
    });
  }

  /** Sends until there is an answer; `lost` is true when an earlier try may have been executed. */
  private async until<T extends { readonly status: number }>(
    send: () => Promise<T>,
  ): Promise<{ readonly reply: T; readonly lost: boolean }> {
    for (let tries = 0, lost = false; tries < TRIES_MAX; tries++) {
      await this.restart;
      const reply = await send().catch(() => undefined);
      if (reply !== undefined && reply.status < 500) {
        this.counts.requests += 1;
        return { reply, lost };
      }
      this.counts.lost += 1;
      lost = true;
      await sleep(RETRY_MS);
    }
    throw new Error('no answer');
  }

  async operate(key: OperationKey, body?: unknown, query = ''): Promise<Record<string, unknown>> {
    const { reply } = await this.until(() => this.operator.call(`${key}${query}`, body));
    assert.equal(reply.status, 200, JSON.stringify(reply.json));
    return reply.json;
  }

  /**
   * An id of a request, in the form of the naive ledger and in its sent form; every second one of
   * an operator is a text.
   */
  private newId(isOperator: boolean): { readonly own: RequestLine; readonly text: string } {
    this.ids += 1;
    const own = { isOperator, ms: Date.now(), key: this.ids };
    if (isOperator && this.ids % 2 === 0) {
      return { own: { ...own, isText: true, ms: 0 }, text: `day, № ${own.key}` };
    }
    return { own, text: `${own.ms}-day-${own.key}` };
  }

  async join(name: string): Promise<DayWallet> {
    const trader = await Trader.join(this.place, name);
    const wallet = { number: this.wallets.length + 1, trader };
    this.wallets.push(wallet);
    return wallet;
  }

  async create(wish: Record<string, unknown>, negRisk: boolean): Promise<DayMarket> {
    const tick = String(wish.tick ?? '0.01');
    const body = { outcomes: ['Yes', 'No'], minimum: '1', ...wish, tick };
    const made = await this.operate('POST /admin/markets', body);
    const ticksPerUnit = Math.round(1 / Number(tick));
    const number = this.markets.length + 1;
    const terms = { grid: ticksPerUnit, minSize: BigInt(MICRO), tradable: true, ended: false };
    const fee = Number(wish.fee ?? 0);
    const own = { ...terms, baseFeeBps: fee, negRisk };
    this.exchange.run({ kind: 'market', condition: number, outcomes: 2, ...own });
    const ids = { conditionId: made.condition, tokenIds: made.tokens };
    const catalog = { ...ids, ticksPerUnit, negRisk } as unknown as CatalogMarket;
    const market = { number, catalog, fee };
    this.markets.push(market);
    return market;
  }

  /** Runs a payment of an operator: in, out, or fees of the venue to a wallet. */
  async pay(kind: keyof typeof PAYMENTS, wallet: DayWallet, micro: number): Promise<void> {
    const id = this.newId(true);
    const body = { wallet: wallet.trader.address, amount: decimal(micro), id: id.text };
    const { reply } = await this.until(() => this.operator.call(PAYMENTS[kind], body));
    const reason = this.funds(kind, id.own, wallet, 0, micro);
    if (reason !== RejectReason.accepted) return this.refuses(reply.json, reason);
    assert.equal(reply.status, 200, JSON.stringify(reply.json));
    assert.equal(microOf(String(reply.json.cash)), this.ledger.cashOf(wallet.number));
  }

  async drawFees(micro: number): Promise<void> {
    const id = this.newId(true);
    const body = { amount: decimal(micro), id: id.text };
    const key = 'POST /admin/ledger/fees/draw';
    const { reply } = await this.until(() => this.operator.call(key, body));
    const line = { kind: 'drawFees', id: id.own, wallet: 0, signer: 0, market: 0 } as const;
    const reason = this.ledger.funds({ ...line, amount: micro }, Date.now(), new Set());
    if (reason !== RejectReason.accepted) return this.refuses(reply.json, reason);
    assert.equal(microOf(String(reply.json.fees)), this.ledger.fees);
  }

  async sets(kind: UserFunds, wallet: DayWallet, market: DayMarket, micro: number): Promise<void> {
    const { conditionId } = market.catalog;
    const id = this.newId(false);
    const body = JSON.stringify({ conditionId, amount: String(micro), id: id.text });
    const { reply } = await this.until(() =>
      wallet.trader.ask(this.place, 'POST', `/${kind}`, body),
    );
    const reason = this.funds(kind, id.own, wallet, market.number, micro);
    if (reason !== RejectReason.accepted) return this.refuses(reply.json, reason);
    assert.equal(reply.status, 200, reply.text);
    const { cash } = reply.json as { cash: string };
    assert.equal(BigInt(cash), this.ledger.cashOf(wallet.number));
  }

  private funds(
    kind: FundsLine['kind'],
    id: RequestLine,
    { number }: DayWallet,
    market: number,
    amount: number,
  ): RejectReasonCode {
    const line = { kind, id, wallet: number, signer: 0, market, amount };
    return this.ledger.funds(line, Date.now(), new Set());
  }

  private refuses(json: unknown, reason: Exclude<RejectReasonCode, 0>): void {
    this.counts.refused += 1;
    assert.equal((json as { error: string }).error, REJECTS[reason].text);
  }

  /**
   * Sends orders in one request. A repeated request must do no more than the first: so they are all
   * of one side and rest, or there is a single one.
   */
  async orders(wallet: DayWallet, market: DayMarket, sent: readonly Sent[]): Promise<void> {
    const { trader } = wallet;
    const own = { market: market.catalog, signed: { feeRateBps: String(market.fee) } };
    const signed = sent.map((terms) => trader.sign({ ...terms, ...own }));
    const body = bodyOf(signed);
    const { lost, reply } = await this.until(() => trader.postText(this.place, body));
    assert.equal(reply.status, 200, reply.text);
    const results = reply.json as Result[];
    for (const [i, terms] of sent.entries()) {
      const { id, item } = signed[i]!;
      const line = this.lineOf(wallet, market, terms, item.order);
      const outcome = this.exchange.run(line);
      this.follow(line, id, outcome, market.number);
      const result = results[i]!;
      const text = JSON.stringify([result, outcome.reason]);
      if (lost && result.errorMsg === REJECTS[RejectReason.duplicate].text) {
        assert.deepEqual([outcome.reason, result.orderID], [RejectReason.accepted, id], text);
      } else assert.deepEqual(result, resultOf(outcome, id), text);
    }
  }

  private lineOf(
    { number }: DayWallet,
    market: DayMarket,
    { outcome, postOnly = false, side, type = 'GTC' }: Sent,
    order: Readonly<Record<string, unknown>>,
  ): OrderLine {
    const [making, taking] = [order.makerAmount, order.takerAmount].map((each) =>
      BigInt(String(each)),
    );
    this.counts.orders += 1;
    return {
      kind: 'order',
      id: this.counts.orders,
      side,
      type,
      postOnly,
      faults: [],
      token: 2 * market.number - 1 + outcome,
      shares: side === 'BUY' ? taking! : making!,
      collateral: side === 'BUY' ? making! : taking!,
      expiration: 0,
      feeRateBps: market.fee,
      maker: number,
      signer: number,
      signatureType: 0,
    };
  }

  private follow(line: OrderLine, id: string, outcome: Outcome, market: number): void {
    if (outcome.reason === RejectReason.accepted) {
      this.ledger.accepted(line);
      this.open.set(id, line);
    } else this.counts.refused += 1;
    for (const fill of outcome.fills) this.ledger.settle(fill, market);
    this.counts.fills += outcome.fills.length;
    this.end(outcome);
  }

  private end({ ended }: Pick<Outcome, 'ended'>): void {
    const gone = new Set(ended.map(({ id }) => id));
    if (gone.size === 0) return;
    for (const [hash, { id }] of this.open) if (gone.has(id)) this.open.delete(hash);
  }

  async cancel(wallet: DayWallet, ids: readonly string[]): Promise<void> {
    const { number, trader } = wallet;
    const body = JSON.stringify(ids);
    const { lost, reply } = await this.until(() =>
      trader.ask(this.place, 'DELETE', '/orders', body),
    );
    assert.equal(reply.status, 200, reply.text);
    const { canceled, not_canceled } = reply.json as Canceled;
    const answered = [...canceled, ...Object.keys(not_canceled)].sort();
    assert.deepEqual(answered, [...ids].sort());
    for (const hash of ids) {
      const line = this.open.get(hash);
      assert(line !== undefined, 'it is open');
      assert(lost || canceled.includes(hash), reply.text);
      this.end(this.exchange.run({ kind: 'cancel', id: line.id, signer: number }));
    }
  }

  /** Resolves a market; the naive ledger pays at once, the node in steps. */
  async resolve(market: DayMarket, payout: readonly number[], group: number): Promise<boolean> {
    const isVoid = payout.every((weight) => weight === payout[0]);
    const { own: id, text } = this.newId(true);
    const own = { condition: market.catalog.conditionId, id: text };
    const key = isVoid ? 'POST /admin/markets/void' : 'POST /admin/markets/resolve';
    const body = isVoid ? own : { ...own, payout };
    const { reply } = await this.until(() => this.operator.call(key, body));
    const { number } = market;
    const line = { kind: 'resolve', id, market: number, weights: payout, isVoid, group } as const;
    const reason = this.ledger.resolve(line, Date.now());
    if (reason !== RejectReason.accepted) {
      this.refuses(reply.json, reason);
      return false;
    }
    assert.equal(reply.status, 200, JSON.stringify(reply.json));
    const ids = new Set(this.exchange.markets[number - 1]!.open.map((order) => order.line.id));
    const out = settlement();
    this.exchange.endResolved(ids, out);
    this.end(out);
    for (const wallet of this.ledger.holders(number)) this.ledger.redeem(wallet, number);
    this.ledger.finish(number);
    return true;
  }

  async ask(wallet: DayWallet, path: string, query = ''): Promise<Reply> {
    const { reply } = await this.until(() => wallet.trader.call(this.place, 'GET', path, query));
    return reply;
  }

  async compareBooks(): Promise<void> {
    const open = this.markets.filter(({ number }) => !this.ledger.resolutions.has(number));
    const tokens = open.flatMap(({ catalog }) => catalog.tokenIds);
    const found = await books(this.place, tokens);
    for (const { catalog, number } of open) {
      for (const [outcome, token] of catalog.tokenIds.entries()) {
        const { asks, bids } = found.find(({ asset_id }) => asset_id === token)!;
        const own = this.exchange.book(2 * number - 1 + outcome)!;
        const levels = (side: typeof bids) =>
          side.map(({ price, size }) => [Math.round(Number(price) * PIPS), microOf(size)]);
        assert.deepEqual([levels(bids), levels(asks)], [own.bids, own.asks], `token ${token}`);
      }
    }
  }
}

/** Result in the form of POST /orders. */
function resultOf({ making, reason, taking }: Outcome, id: string): Result {
  if (reason !== RejectReason.accepted) {
    const nothing = { orderID: '', takingAmount: '', makingAmount: '' };
    return { success: false, errorMsg: REJECTS[reason].text, ...nothing, status: 'error' };
  }
  const isMatched = BigInt(making) + BigInt(taking) > 0n;
  const [makingAmount, takingAmount] = [making, taking].map((each) =>
    isMatched ? decimalOf(BigInt(each)) : '',
  );
  return {
    success: true,
    errorMsg: '',
    orderID: id,
    takingAmount: takingAmount!,
    makingAmount: makingAmount!,
    status: isMatched ? 'matched' : 'live',
  };
}

function decimalOf(micro: bigint): string {
  const [whole, fraction] = [micro / BigInt(MICRO), micro % BigInt(MICRO)];
  const digits = String(fraction).padStart(6, '0').replace(/0+$/, '');
  return digits === '' ? String(whole) : `${whole}.${digits}`;
}

/** Micro-units of a decimal text, which may be negative. */
export function microOf(text: string): bigint {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  const micro = BigInt(whole) * BigInt(MICRO) + BigInt(fraction.padEnd(6, '0'));
  return text.startsWith('-') ? -micro : micro;
}
