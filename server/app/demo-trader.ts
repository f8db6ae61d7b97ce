/**
 * A trader of the demo: a wallet of its own with an API key, which places and cancels orders over the public
 * API as any client does.
 *
 * Thread: the I/O thread. Not here: what it trades (demo-traders.ts). It does not use the client of this
 * repository, which stands apart from the node.
 */
import { createHmac } from 'node:crypto';
import { type Agent, request } from 'node:http';
import { bytesToHex } from '../common/uint256.ts';
import type { Config } from '../config/config.ts';
import type { Trio } from '../identity/credentials.ts';
import { authDigest, authSeparator, order2Digest, orderDigest } from '../identity/eip712.ts';
import type { OrderSeparators } from '../identity/exchange-domains.ts';
import { addressOfKey, signDigest } from '../identity/secp256k1.ts';
import { type DemoTerms, demoOrder } from './demo-books.ts';

/** Where the traders trade. */
export interface DemoVenue {
  readonly config: Config;
  readonly separators: OrderSeparators;
  readonly host: string;
  readonly port: number;
  agent: Agent;
  /** With a ledger: gives a wallet what it trades with. */
  readonly fund: (wallet: Uint8Array) => Promise<void>;
  /** Ends every request. */
  readonly signal: AbortSignal;
}

export interface DemoOrderTerms extends DemoTerms {
  readonly type: 'GTC' | 'FAK';
  readonly postOnly: boolean;
}

interface Result {
  readonly success: boolean;
  readonly orderID: string;
}

const WORD_BYTES = 32;
const ZERO_WORD = new Uint8Array(WORD_BYTES);
/** The last salt that was used: every order has another id, also after a restart. */
let lastSalt = 0;

export class DemoTrader {
  private readonly venue: DemoVenue;
  private readonly key: Uint8Array;
  private readonly wallet: Uint8Array;
  private readonly address: string;
  private trio: Trio | undefined;

  /** @param key the private key, 32 bytes */
  constructor(venue: DemoVenue, key: Uint8Array) {
    this.venue = venue;
    this.key = key;
    this.wallet = addressOfKey(key);
    this.address = bytesToHex(this.wallet, 0, this.wallet.length);
  }

  /** Gets its API key, which is the same at every start. */
  async join(): Promise<void> {
    if (this.trio !== undefined) return;
    const { chainId } = this.venue.config;
    const timestamp = nowSeconds();
    const digest = new Uint8Array(WORD_BYTES);
    authDigest(authSeparator(chainId), this.wallet, timestamp, '0', digest, 0);
    const headers = { SIGNATURE: this.sign(digest), TIMESTAMP: timestamp, NONCE: '0' };
    const answer = await this.send('POST', '/auth/api-key', headers, '');
    await this.venue.fund(this.wallet);
    this.trio = JSON.parse(answer) as Trio;
  }

  /** Places orders. Resolves with the id of each, '' where it was refused. */
  async post(terms: readonly DemoOrderTerms[]): Promise<string[]> {
    const ids: string[] = [];
    const { maxBatchOrders: most } = this.venue.config;
    for (let from = 0; from < terms.length; from += most) {
      const items = terms.slice(from, from + most).map((each) => this.itemOf(each));
      const answer = await this.call('POST', '/orders', JSON.stringify(items));
      const results = JSON.parse(answer) as Result[];
      ids.push(...results.map(({ orderID, success }) => (success ? orderID : '')));
    }
    return ids;
  }

  async cancel(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.call('DELETE', '/orders', JSON.stringify(ids));
  }

  async cancelAll(): Promise<void> {
    await this.call('DELETE', '/cancel-all', '');
  }

  private itemOf(terms: DemoOrderTerms): object {
    const { config, separators } = this.venue;
    const { isBuy, market, postOnly, type } = terms;
    lastSalt = Math.max(lastSalt + 1, Date.now() * 1_000);
    const order = demoOrder(terms, this.wallet, lastSalt);
    const isSecond = config.orderVersion === '2';
    const domains = separators[isSecond ? 2 : 1];
    const domain = market.negRisk ? domains.negRiskSeparator : domains.separator;
    const digest = new Uint8Array(WORD_BYTES);
    const own = { timestamp: String(Date.now()), metadata: ZERO_WORD, builder: ZERO_WORD };
    if (isSecond) order2Digest(domain, order, own, digest, 0);
    else orderDigest(domain, order, digest, 0);
    const word = bytesToHex(ZERO_WORD, 0, WORD_BYTES);
    const { feeRateBps, nonce, taker, ...common } = order;
    const sent = {
      ...common,
      ...{ maker: this.address, signer: this.address },
      ...(isSecond
        ? { ...own, metadata: word, builder: word }
        : { feeRateBps, nonce, taker: bytesToHex(taker, 0, taker.length) }),
      conditionId: market.conditionId,
      side: isBuy ? 'BUY' : 'SELL',
      signature: this.sign(digest),
    };
    return { order: sent, orderType: type, owner: this.trio!.apiKey, postOnly };
  }

  private sign(digest: Uint8Array): string {
    const signature = signDigest(this.key, digest);
    return bytesToHex(signature, 0, signature.length);
  }

  /** A request with its API key. */
  private call(method: string, path: string, body: string): Promise<string> {
    const { apiKey, passphrase, secret } = this.trio!;
    const timestamp = nowSeconds();
    const signature = createHmac('sha256', Buffer.from(secret, 'base64'))
      .update(`${timestamp}${method}${path}${body}`)
      .digest('hex');
    const headers = {
      ...{ API_KEY: apiKey, PASSPHRASE: passphrase },
      ...{ TIMESTAMP: timestamp, SIGNATURE: signature },
    };
    return this.send(method, path, headers, body);
  }

  /** @param headers credentials without their prefix and the address */
  private send(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body: string,
  ): Promise<string> {
    const named = Object.entries({ ADDRESS: this.address, ...headers }).map(([name, value]) => [
      `${this.venue.config.credentialPrefix}_${name}`,
      value,
    ]);
    return ask(this.venue, method, path, Object.fromEntries(named), body);
  }
}

/** Resolves with the body of an answer of status 200; rejects for any other. */
export function ask(
  { agent, host, port, signal }: DemoVenue,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const length = Buffer.byteLength(body);
    const options = { host, port, method, path, agent, signal };
    const sent = request(
      { ...options, headers: { ...headers, 'Content-Length': length } },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', reject);
        answer.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          if (answer.statusCode === 200) resolve(text);
          else reject(new Error(`${method} ${path} answered ${answer.statusCode}: ${text}`));
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

function nowSeconds(): string {
  return String(Math.floor(Date.now() / 1_000));
}
