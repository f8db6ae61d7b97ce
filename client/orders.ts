/**
 * Orders and cancels of a wallet, none of them ever carried out twice.
 *
 * An order is signed once and sent with the same bytes until it is answered. Its digest is its id,
 * so a node that already has the order answers that, and the client then reads its state. That
 * replaces the lost answer.
 */
import type { Calls, RouteRequest } from './calls.ts';
import { amountsOf } from './decimal.ts';
import {
  ApiError,
  LiquidityError,
  NoAnswerError,
  NotFoundError,
  refusal,
  UnknownTokenError,
} from './errors.ts';
import {
  type OrderFields,
  type OrderType,
  prepareOrder,
  type SignedOrder,
  type Signer,
  type SigningDomain,
} from './exchange.ts';
import type { Transport } from './http.ts';
import { rowsOnce } from './lists.ts';
import { type MarketTerms, type Sweep, sweepOf } from './market-order.ts';
import { refusalCode } from './refusals.ts';
import { DEPOSIT_WALLET } from './typed-data.ts';
import type {
  CancelAnswer,
  OrderResult,
  OwnOrderAnswer,
  PreviewAnswer,
  PreviewBody,
  RefusalCode,
  Routes,
} from './types.ts';

export interface OrderTerms {
  readonly tokenId: string;
  readonly side: 'BUY' | 'SELL';
  /** Decimal text; a multiple of the market's tick. */
  readonly price: string;
  /** Shares as decimal text; with two decimals the collateral is whole millionths at any price. */
  readonly size: string;
  /** GTC when absent. */
  readonly type?: OrderType;
  /** Unix seconds; of a GTD order. */
  readonly expiration?: number;
  readonly postOnly?: boolean;
}

export interface Placed {
  /** 0x + 64 hex digits. */
  readonly id: string;
  readonly status: 'live' | 'matched' | 'canceled' | 'delayed' | 'refused';
  /** The node's reject reason and its stable code; '' and undefined when it refused nothing. */
  readonly reason: string;
  readonly code: RefusalCode | undefined;
  /** Explanation of the reason, for a person; '' unless the node runs with RESULT_CODES=on. */
  readonly detail: string;
  /** Amounts that it paid and received at once, net of fees, as decimal text; '0' when the answer was lost. */
  readonly makingAmount: string;
  readonly takingAmount: string;
  /** Set when the node already had the order from an earlier try: its current state. */
  readonly known: OwnOrderAnswer | undefined;
  /**
   * False when an earlier try without an answer may still arrive and be accepted. The same bytes, sent again,
   * return the outcome.
   */
  readonly isFinal: boolean;
}

export interface Replaced {
  /** True when the order was cancelled, by this request or by an earlier try without an answer. */
  readonly canceled: boolean;
  /** Shares that it had traded before, as decimal text; undefined if it was not cancelled. */
  readonly filled: string | undefined;
  /** `undefined` when the cancel failed, so that nothing was placed. */
  readonly placed: Placed | undefined;
}

/** Wallet that pays in place of the signer's own: at most one of both. */
type Payer = Pick<OrderFields, 'agentOf' | 'depositWallet'>;

interface TokenTerms {
  readonly conditionId: string;
  readonly negRisk: boolean;
  readonly feeRateBps: number;
}

export type OwnTrade = Routes['GET /data/trades']['answer']['data'][number];

export class Orders {
  readonly #calls: Calls;
  readonly #wallet: Signer | undefined;
  readonly #exchange: SigningDomain;
  readonly #payer: Payer;
  readonly #terms: Map<string, Promise<TokenTerms>>;

  /** @param payer the wallet that pays for the orders, where it is not the signer's own */
  constructor(
    calls: Calls,
    wallet: Signer | undefined,
    signing: SigningDomain,
    payer: Payer = {},
    terms = new Map<string, Promise<TokenTerms>>(),
  ) {
    this.#calls = calls;
    this.#terms = terms;
    this.#wallet = wallet;
    this.#exchange = signing;
    this.#payer = payer;
  }

  /** Returns orders of the same wallet over another transport. */
  over(http: Transport): Orders {
    const calls = this.#calls.over(http);
    return new Orders(calls, this.#wallet, this.#exchange, this.#payer, this.#terms);
  }

  /** Signs an order. The terms of its market are requested with the first order of a token. */
  sign(terms: OrderTerms): Promise<SignedOrder> {
    return this.#sign('sign', terms);
  }

  /**
   * @param call the method of the client that errors name
   * @param given amounts in place of those of price and size
   */
  async #sign(
    call: string,
    terms: OrderTerms,
    given?: Pick<OrderFields, 'makerAmount' | 'takerAmount'>,
  ): Promise<SignedOrder> {
    const { identity } = this.#calls;
    if (this.#wallet === undefined || !('key' in identity)) {
      throw new Error(`${call}: orders need a wallet`);
    }
    const { price, side, size, type = 'GTC', ...rest } = terms;
    let fields: Omit<OrderFields, 'owner' | 'salt'>;
    try {
      const amounts = given ?? amountsOf(side, price, size);
      fields = { ...rest, ...(await this.#termsOf(terms.tokenId)), ...amounts, side, type };
    } catch (error) {
      throw namedAfter(call, error);
    }
    const salt = randomSalt();
    const owner = identity.key.apiKey;
    const { data, signed } = prepareOrder(this.#wallet.address, this.#exchange, {
      ...fields,
      ...this.#payer,
      owner,
      salt,
    });
    return signed(await this.#wallet.sign(data));
  }

  async post(terms: OrderTerms): Promise<Placed> {
    return this.send(await this.#sign('post', terms));
  }

  /** Signs and sends orders in one request; results are in the order of the terms. */
  async postAll(terms: readonly OrderTerms[]): Promise<Placed[]> {
    return this.sendAll(await Promise.all(terms.map((each) => this.#sign('postAll', each))));
  }

  /**
   * Buys for an amount of collateral, or sells a number of shares, at the prices of the book as it is now. A buyer
   * never pays more than the amount, and usually a little less: the shares are what it buys at the worst price
   * that is needed. @throws LiquidityError, UnknownTokenError
   */
  async market(terms: MarketTerms): Promise<Placed> {
    return this.send(await this.#signMarket('market', terms));
  }

  signMarket(terms: MarketTerms): Promise<SignedOrder> {
    return this.#signMarket('signMarket', terms);
  }

  async #signMarket(call: string, terms: MarketTerms): Promise<SignedOrder> {
    const { side, tokenId, type = 'FAK' } = terms;
    let sweep: Sweep;
    try {
      const query = { token_id: tokenId };
      sweep = sweepOf(await this.#calls.call('GET /book', { query }), terms);
    } catch (error) {
      throw namedAfter(call, error);
    }
    return this.#sign(call, { tokenId, side, type, ...sweep });
  }

  /**
   * Tells what an order would fill, cost and pay, and why it would be refused; with a wallet or a key for its funds.
   * Places nothing.
   */
  preview(terms: PreviewBody): Promise<PreviewAnswer> {
    const { agentOf, depositWallet } = this.#payer;
    const body = {
      ...(depositWallet !== undefined && { signatureType: DEPOSIT_WALLET }),
      ...(agentOf !== undefined && { wallet: agentOf }),
      ...terms,
    };
    return this.#calls.call('POST /orders/preview', { body });
  }

  /** Signs and sends the order of a preview. @throws RangeError where it has none */
  async postPreviewed(preview: Pick<PreviewAnswer, 'order'>): Promise<Placed> {
    return this.send(await this.#signPreviewed('postPreviewed', preview));
  }

  /** Signs the order of a preview. @throws RangeError where it has none */
  signPreviewed(preview: Pick<PreviewAnswer, 'order'>): Promise<SignedOrder> {
    return this.#signPreviewed('signPreviewed', preview);
  }

  async #signPreviewed(
    call: string,
    { order }: Pick<PreviewAnswer, 'order'>,
  ): Promise<SignedOrder> {
    if (order === null) throw new RangeError(`${call}: the preview has no order`);
    const { expiration, orderType: type, postOnly, price, side, size, tokenId } = order;
    const terms = { tokenId, side, price, size, type, expiration, postOnly };
    const makerAmount = BigInt(order.makerAmount);
    const takerAmount = BigInt(order.takerAmount);
    return this.#sign(call, terms, { makerAmount, takerAmount });
  }

  /** Sends a signed order until it is answered. The same one may be sent again at any time. */
  async send(order: SignedOrder): Promise<Placed> {
    const { answer, lost } = await this.#calls.callText('POST /order', {}, order.item);
    return this.#placed(order, answer, lost);
  }

  /** Sends signed orders in one request, at most `max_batch_orders` of the node. */
  async sendAll(orders: readonly SignedOrder[]): Promise<Placed[]> {
    const body = `[${orders.map(({ item }) => item).join(',')}]`;
    const { answer, lost } = await this.#calls.callText('POST /orders', {}, body);
    return Promise.all(orders.map((order, i) => this.#placed(order, answer[i]!, lost)));
  }

  /** Cancels an order and places another one in one step of the node, or does neither. */
  async replace(orderID: string, terms: OrderTerms): Promise<Replaced> {
    const order = await this.#sign('replace', terms);
    const body = JSON.stringify({ orderID, ...JSON.parse(order.item) });
    const { answer, lost } = await this.#calls.callText('POST /replace', {}, body);
    const cancel = lost === 0 ? answer.cancel : await this.#withLost(answer.cancel);
    return {
      canceled: cancel.canceled.length > 0,
      filled: Object.values(cancel.filled)[0],
      placed: answer.order === null ? undefined : await this.#placed(order, answer.order, lost),
    };
  }

  cancel(orderID: string): Promise<CancelAnswer> {
    return this.#cancel('DELETE /order', JSON.stringify({ orderID }));
  }

  /** Up to 1000 of them. */
  cancelMany(ids: readonly string[]): Promise<CancelAnswer> {
    return this.#cancel('DELETE /orders', JSON.stringify(ids));
  }

  /** Cancels all open orders. What a lost answer cancelled is not listed in the next one. */
  cancelAll(): Promise<CancelAnswer> {
    return this.#calls.call('DELETE /cancel-all', { body: undefined });
  }

  cancelMarket(scope: { market?: string; asset_id?: string }): Promise<CancelAnswer> {
    return this.#calls.call('DELETE /cancel-market-orders', { body: scope });
  }

  /** An own order, open or closed; undefined when the node does not know it. */
  async get(id: string): Promise<OwnOrderAnswer | undefined> {
    try {
      return await this.#calls.call('GET /data/order/:id', { path: { id } });
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  }

  /**
   * Own open orders, newest first; those of the wallet for an agent. If some close between two pages, others may be
   * missed.
   */
  open(
    query: RouteRequest<'GET /data/orders'>['query'] = {},
  ): AsyncGenerator<OwnOrderAnswer, void> {
    const { agentOf: wallet } = this.#payer;
    const ofPayer = wallet === undefined ? query : { wallet, ...query };
    return rowsOnce(ofPayer, 'next_cursor', async (paged) => {
      const page = await this.#calls.call('GET /data/orders', { query: paged });
      return { rows: page.data, next: page.next_cursor };
    });
  }

  trades(query: RouteRequest<'GET /data/trades'>['query'] = {}): AsyncGenerator<OwnTrade, void> {
    return rowsOnce(query, 'next_cursor', async (paged) => {
      const page = await this.#calls.call('GET /data/trades', { query: paged });
      return { rows: page.data, next: page.next_cursor };
    });
  }

  /** Starts or extends the watch: when heartbeats stop, the node cancels all open orders. */
  heartbeat(): Promise<unknown> {
    return this.#calls.call('POST /heartbeats', {});
  }

  /** @param lost tries that got no answer */
  async #placed({ id }: SignedOrder, result: OrderResult, lost: number): Promise<Placed> {
    const isKnown = !result.success && result.orderID !== '';
    const known = isKnown ? await this.#standing(result.orderID) : undefined;
    const status = (result.status === 'error' ? 'refused' : result.status) as Placed['status'];
    return {
      id,
      status,
      reason: isKnown ? '' : result.errorMsg,
      code: isKnown ? undefined : refusalCode(result.errorMsg),
      detail: isKnown ? '' : (result.detail ?? ''),
      makingAmount: result.makingAmount || '0',
      takingAmount: result.takingAmount || '0',
      known,
      isFinal: status !== 'refused' || lost === 0,
    };
  }

  /** The state of a placed order. An error of this request is not a reject of the order. */
  async #standing(id: string): Promise<OwnOrderAnswer | undefined> {
    try {
      return await this.get(id);
    } catch (error) {
      throw new NoAnswerError(`order ${id}`, error);
    }
  }

  async #cancel(route: 'DELETE /order' | 'DELETE /orders', body: string): Promise<CancelAnswer> {
    const { answer, lost } = await this.#calls.callText(route, {}, body);
    return lost === 0 ? answer : this.#withLost(answer);
  }

  /** Orders that an earlier try without an answer cancelled are reported as cancelled. */
  async #withLost(answer: CancelAnswer): Promise<CancelAnswer> {
    const canceled = [...answer.canceled];
    const notCanceled = { ...answer.not_canceled };
    const filled = { ...answer.filled };
    for (const id of Object.keys(notCanceled)) {
      const order = await this.get(id);
      if (order?.reason !== 'canceled') continue;
      delete notCanceled[id];
      canceled.push(id);
      filled[id] = order.size_matched;
    }
    return { canceled, not_canceled: notCanceled, filled };
  }

  /** Cached: the signing domain of a market never changes, and its base fee rarely does. */
  #termsOf(tokenId: string): Promise<TokenTerms> {
    let terms = this.#terms.get(tokenId);
    if (terms === undefined) {
      terms = this.#readTerms(tokenId);
      this.#terms.set(tokenId, terms);
      terms.catch(() => this.#terms.delete(tokenId));
    }
    return terms;
  }

  async #readTerms(token_id: string): Promise<TokenTerms> {
    const [book, fee] = await Promise.all([
      this.#calls.call('GET /book', { query: { token_id } }),
      this.#calls.call('GET /fee-rate', { query: { token_id } }),
    ]);
    return { conditionId: book.market, negRisk: book.neg_risk, feeRateBps: fee.base_fee };
  }
}

function namedAfter(call: string, error: unknown): unknown {
  if (error instanceof RangeError) return new RangeError(`${call}: ${error.message}`);
  if (error instanceof LiquidityError) {
    return new LiquidityError(`${call}: ${error.message}`, error.tokenId, error.available);
  }
  if (!(error instanceof ApiError)) return error;
  const tokenId = error instanceof UnknownTokenError ? error.tokenId : undefined;
  return refusal(`${call} (${error.call})`, error, tokenId, error);
}

/** 48 bits: some clients send it as a number. */
function randomSalt(): string {
  const [low = 0, high = 0] = crypto.getRandomValues(new Uint32Array(2));
  return String((high & 0xffff) * 2 ** 32 + low);
}
