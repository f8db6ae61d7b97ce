/**
 * Draws and signs all requests of one process before the clock starts, then writes each as the very
 * bytes that will be sent.
 * Thread: the tool's only one.
 * Non-goals: when they are due (arrivals.ts).
 */
import { type ApiKey, level2 } from '../../client/credentials.ts';
import type { SigningDomain } from '../../client/exchange.ts';
import type { LoadMarket } from '../load/load-market.ts';
import { type Signer, signOrder } from '../load/load-orders.ts';
import type { Random } from '../random.ts';
import { restingOrder, takerOrder } from './ladder.ts';
import { type Kind, kindAt, type Mix } from './mix.ts';

/** A wallet that trades, with the key of its API. */
export interface Account {
  readonly key: ApiKey;
  readonly signer: Signer;
}

export interface Request {
  readonly kind: Kind;
  readonly orders: number;
  readonly account: Account;
  readonly method: 'POST' | 'DELETE';
  readonly path: string;
  readonly body: string;
}

interface Resting {
  readonly account: Account;
  readonly ids: readonly string[];
  /** The number of the request that rests them. */
  readonly since: number;
}

export interface Flow {
  readonly random: Random;
  readonly mix: Mix;
  readonly batch: number;
  readonly accounts: readonly Account[];
  readonly markets: readonly LoadMarket[];
  readonly context: SigningDomain;
  /** First digits of the salts; the rest counts. */
  readonly salts: string;
  /** A cancel comes at least so many requests after the orders that it takes back. */
  readonly cancelDistance: number;
}

const SALT_DIGITS = 9;

/** Draws requests one after another; the same flow draws the same ones. */
export class Drawer {
  readonly #flow: Flow;
  readonly #tokens: LoadMarket['tokens'];
  /** Oldest first, from `#nextResting` on. */
  readonly #resting: Resting[] = [];
  #nextResting = 0;
  #salt = 0;
  #drawn = 0;

  constructor(flow: Flow) {
    this.#flow = flow;
    this.#tokens = flow.markets.flatMap(({ tokens }) => tokens);
  }

  /** The next request; a cancel takes back one earlier request of GTC orders. */
  draw(): Request {
    const { random, mix, accounts, cancelDistance } = this.#flow;
    const kind = kindAt(mix, random.below(100));
    this.#drawn += 1;
    if (kind === 'cancel') {
      const oldest = this.#resting[this.#nextResting];
      if (oldest !== undefined && oldest.since + cancelDistance <= this.#drawn) {
        this.#nextResting += 1;
        return cancelRequest(oldest);
      }
    }
    // Until there is something to cancel, its share goes to what will be.
    return this.#orders(kind === 'fok' ? 'fok' : 'gtc', random.pick(accounts));
  }

  #orders(kind: 'fok' | 'gtc', account: Account): Request {
    const { random, batch, salts, context } = this.#flow;
    const make = kind === 'fok' ? takerOrder : restingOrder;
    const signed = Array.from({ length: batch }, () => {
      const order = make(random, random.pick(this.#tokens), 0);
      const salt = `${salts}${String(this.#salt).padStart(SALT_DIGITS, '0')}`;
      this.#salt += 1;
      return signOrder(order, account.signer, context, salt);
    });
    if (kind === 'gtc') {
      this.#resting.push({ account, ids: signed.map(({ id }) => id), since: this.#drawn });
    }
    const items = signed.map(({ item }) => item).join(',');
    const [path, body] = batch === 1 ? ['/order', items] : ['/orders', `[${items}]`];
    return { kind, orders: batch, account, method: 'POST', path, body };
  }
}

function cancelRequest({ account, ids }: Resting): Request {
  const [first] = ids;
  const [path, body] =
    ids.length === 1
      ? ['/order', JSON.stringify({ orderID: first })]
      : ['/orders', JSON.stringify(ids)];
  return { kind: 'cancel', orders: ids.length, account, method: 'DELETE', path, body };
}

/** The bytes of a request, with credentials of the second `seconds` (unix time). */
export function bytesOf(request: Request, url: URL, prefix: string, seconds: number): Buffer {
  const { method, path, body, account } = request;
  const { key, signer } = account;
  const credentials = level2(
    prefix,
    signer.wallet.address,
    key,
    method,
    path,
    body,
    String(seconds),
  );
  const head = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${url.host}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`, // all of it is ASCII
    ...Object.entries(credentials).map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`, 'latin1');
}
