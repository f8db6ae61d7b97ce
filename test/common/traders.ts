/**
 * Traders of the whole-node tests: a throw-away wallet, its API key, and orders signed by the
 * client's code, which is checked against ethers.
 */
import assert from 'node:assert/strict';
import type { Agent } from 'node:http';
import { type ApiKey, level1, level2 } from '../../client/credentials.ts';
import type { OrderDomain, UnsignedOrder } from '../../client/typed-data.ts';
import { Wallet } from '../../client/wallet.ts';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import { type Reply, send } from './node-harness.ts';

export const CHAIN_ID = 137;
const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;
const DOMAIN = { name: 'CTF Exchange', version: '1', chainId: CHAIN_ID };
export const NORMAL: OrderDomain = {
  ...DOMAIN,
  verifyingContract: '0xB5592f7CccA122558D2201e190826276f3a661cb',
};
export const NEG_RISK: OrderDomain = {
  ...DOMAIN,
  verifyingContract: '0xef02d1Ea5B42432C4E99C2785d1a4020d2FB24F5',
};

export interface SigningRules {
  readonly prefix: string;
  readonly normal: OrderDomain;
  readonly negRisk: OrderDomain;
}
const SPEC_RULES: SigningRules = { prefix: 'SERVICE', normal: NORMAL, negRisk: NEG_RISK };

/** Micro-units in a share and in a unit of collateral. */
export const MICRO = 1_000_000;

export interface Result {
  readonly success: boolean;
  readonly errorMsg: string;
  readonly orderID: string;
  readonly takingAmount: string;
  readonly makingAmount: string;
  readonly status: string;
}

export interface Canceled {
  readonly canceled: readonly string[];
  readonly not_canceled: Readonly<Record<string, string>>;
  readonly filled: Readonly<Record<string, string>>;
}

export interface Terms {
  readonly market: CatalogMarket;
  readonly outcome?: number;
  readonly side: 'BUY' | 'SELL';
  readonly ticks: number;
  readonly shares: number;
  readonly type?: 'GTC' | 'GTD' | 'FOK' | 'FAK';
  readonly postOnly?: boolean;
  /** Signed fields in place of those that follow from the terms. */
  readonly signed?: Partial<UnsignedOrder>;
  /** Members of the item's order that differ from the signed ones. */
  readonly sent?: Readonly<Record<string, unknown>>;
  readonly owner?: string;
  readonly domain?: OrderDomain;
}

export interface Signed {
  readonly item: {
    readonly order: Readonly<Record<string, unknown>>;
    readonly [member: string]: unknown;
  };
  readonly id: string;
}

let salts = Date.now();

export class Trader {
  readonly wallet: Wallet;
  readonly trio: ApiKey;
  private readonly rules: SigningRules;

  private constructor(wallet: Wallet, trio: ApiKey, rules: SigningRules) {
    this.wallet = wallet;
    this.trio = trio;
    this.rules = rules;
  }

  /** Returns a trader with a wallet of this name and a key that the node issues. */
  static async join(
    node: { readonly port: number },
    name: string,
    rules = SPEC_RULES,
    connection?: Agent,
  ): Promise<Trader> {
    const wallet = Wallet.fromSeed(`whole node test/${name}`);
    const headers = level1(rules.prefix, wallet, CHAIN_ID, seconds(), '0');
    const { json, status, text } = await send(
      node,
      'POST',
      '/auth/api-key',
      headers,
      '',
      connection,
    );
    assert.equal(status, 200, text);
    return new Trader(wallet, json as ApiKey, rules);
  }

  get address(): string {
    return this.wallet.address;
  }

  sign(terms: Terms): Signed {
    const { market, side, ticks } = terms;
    const micro = Math.round(terms.shares * MICRO);
    const collateral = Math.floor((micro * ticks) / market.ticksPerUnit);
    const tokenId = market.tokenIds[terms.outcome ?? 0];
    assert(tokenId !== undefined);
    salts += 1;
    const order: UnsignedOrder = {
      salt: String(salts),
      maker: this.address,
      signer: this.address,
      taker: ZERO_ADDRESS,
      tokenId,
      makerAmount: String(side === 'BUY' ? collateral : micro),
      takerAmount: String(side === 'BUY' ? micro : collateral),
      expiration: '0',
      nonce: '0',
      feeRateBps: '0',
      side: side === 'BUY' ? 0 : 1,
      signatureType: 0,
      ...terms.signed,
    };
    const { negRisk, normal } = this.rules;
    const domain = terms.domain ?? (market.negRisk ? negRisk : normal);
    const { digest, signature } = this.wallet.signOrder(domain, order);
    const sent = {
      ...order,
      conditionId: market.conditionId,
      side,
      signature,
      ...terms.sent,
    };
    const item = {
      order: sent,
      orderType: terms.type ?? 'GTC',
      ...(terms.postOnly === undefined ? {} : { postOnly: terms.postOnly }),
      owner: terms.owner ?? this.trio.apiKey,
    };
    return { item, id: digest };
  }

  /** POST /orders with exactly this text, signed now. */
  postText(
    node: { readonly port: number },
    body: string,
    change: Readonly<Record<string, string>> = {},
  ): Promise<Reply> {
    return send(node, 'POST', '/orders', { ...this.headers(body), ...change }, body);
  }

  headers(body: string, timestamp = seconds()): Record<string, string> {
    const { prefix } = this.rules;
    return level2(prefix, this.address, this.trio, 'POST', '/orders', body, timestamp);
  }

  ask(
    node: { readonly port: number },
    method: string,
    path: string,
    body = '',
    connection?: Agent,
  ): Promise<Reply> {
    return this.call(node, method, path, '', body, connection);
  }

  /** One of the DELETE routes of orders, which must answer 200. */
  async cancel(
    node: { readonly port: number },
    path: '/order' | '/orders' | '/cancel-all' | '/cancel-market-orders',
    body?: unknown,
  ): Promise<Canceled> {
    const text = body === undefined ? '' : JSON.stringify(body);
    const reply = await this.ask(node, 'DELETE', path, text);
    assert.equal(reply.status, 200, reply.text);
    const canceled = reply.json as Canceled;
    assert.deepEqual(Object.keys(canceled), ['canceled', 'not_canceled', 'filled']);
    assert.deepEqual(Object.keys(canceled.filled), canceled.canceled);
    return canceled;
  }

  /** A request with this trader's key (level 2), signed now; `query` with its `?`. */
  call(
    node: { readonly port: number },
    method: string,
    path: string,
    query = '',
    body = '',
    connection?: Agent,
  ): Promise<Reply> {
    const { prefix } = this.rules;
    const headers = level2(prefix, this.address, this.trio, method, path, body, seconds());
    return send(node, method, `${path}${query}`, headers, body, connection);
  }

  async post(node: { readonly port: number }, orders: readonly Signed[]): Promise<Result[]> {
    const { json, status, text } = await this.postText(node, bodyOf(orders));
    assert.equal(status, 200, text);
    const results = json as Result[];
    assert.equal(results.length, orders.length);
    for (const result of results) assertConsistent(result);
    return results;
  }

  /** Splits cash into complete sets: so many shares of each outcome. */
  async split(
    node: { readonly port: number },
    { conditionId }: CatalogMarket,
    shares: number,
  ): Promise<void> {
    const id = `${Date.now()}-${conditionId}`;
    const body = JSON.stringify({ conditionId, amount: String(shares * MICRO), id });
    const { status, text } = await this.ask(node, 'POST', '/split', body);
    assert.equal(status, 200, text);
  }

  async order(node: { readonly port: number }, terms: Terms): Promise<Result> {
    const [result] = await this.post(node, [this.sign(terms)]);
    assert(result !== undefined);
    return result;
  }

  async place(node: { readonly port: number }, terms: Terms): Promise<Result> {
    const result = await this.order(node, terms);
    assert.equal(result.errorMsg, '');
    return result;
  }
}

export function bodyOf(orders: readonly Signed[]): string {
  return JSON.stringify(orders.map(({ item }) => item));
}

export function seconds(offset = 0): string {
  return String(Math.floor(Date.now() / 1000) + offset);
}

const FIELDS = ['success', 'errorMsg', 'orderID', 'takingAmount', 'makingAmount', 'status'];

/** Checks rules of every result (docs/protocol.md#order-results). */
function assertConsistent(result: Result): void {
  const fields = Object.keys(result);
  // Of the settings of a node, those with TRADE_IDS=list name the trade of an immediate fill.
  if (fields.at(-1) === 'tradeIDs') assert.equal(fields.pop() && result.status, 'matched');
  assert.deepEqual(fields, FIELDS);
  assert.equal(typeof result.success, 'boolean');
  assert.equal(result.success, result.errorMsg === '', JSON.stringify(result));
  // A duplicate names the order that is known.
  const isDuplicate = result.errorMsg.includes('Duplicated');
  const isNamed = result.success || isDuplicate;
  assert.equal(isNamed, result.orderID !== '', JSON.stringify(result));
  assert.equal(isNamed, result.status !== 'error', JSON.stringify(result));
  const statuses = ['live', 'matched', 'delayed', isDuplicate ? 'canceled' : 'error'];
  assert(statuses.includes(result.status), JSON.stringify(result));
  const isMatched = result.success && result.status === 'matched';
  assert.equal(isMatched, result.makingAmount !== '', JSON.stringify(result));
  assert.equal(isMatched, result.takingAmount !== '', JSON.stringify(result));
  if (isNamed) assert.match(result.orderID, /^0x[0-9a-f]{64}$/);
}
