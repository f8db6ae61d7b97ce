/** Requests of a client of its own: credentials, orders, own reads, the data API and a user stream. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import {
  checkData,
  checkPage,
  checkRefusal,
  checkRow,
  checkTaken,
  type FormName,
  type Json,
  type OrderAnswer,
  type OwnTrade,
} from './own-answers.ts';
import {
  isPosition,
  type Kind,
  type SignedOrder,
  Signer,
  type Terms,
  type Version,
} from './own-signing.ts';

interface Key {
  readonly apiKey: string;
  readonly secret: string;
  readonly passphrase: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly json: Json;
}

export class OwnClient {
  readonly signer: Signer;
  readonly base: string;
  private readonly key: Key;

  private constructor(base: string, signer: Signer, key: Key) {
    this.base = base;
    this.signer = signer;
    this.key = key;
  }

  static async join(base: string, privateKey: string, kind: Kind): Promise<OwnClient> {
    const signer = new Signer(privateKey, kind);
    const headers = await signer.proof();
    const response = await fetch(`${base}/auth/api-key`, { method: 'POST', headers });
    const key = (await response.json()) as Key;
    assert.equal(response.status, 200, JSON.stringify(key));
    return new OwnClient(base, signer, key);
  }

  get kind(): Kind {
    return this.signer.kind;
  }

  get wallet(): string {
    return this.signer.wallet;
  }

  /** Credentials of the user stream. */
  get trio(): Key {
    return this.key;
  }

  async ask(method: string, path: string, query = '', body = ''): Promise<Answer> {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const secret = Buffer.from(this.key.secret, 'base64url');
    const signature = createHmac('sha256', secret)
      .update(timestamp + method + path + body)
      .digest('base64')
      .replaceAll('+', '-')
      .replaceAll('/', '_');
    const headers = {
      'Content-Type': 'application/json',
      POLY_ADDRESS: this.signer.address,
      POLY_API_KEY: this.key.apiKey,
      POLY_PASSPHRASE: this.key.passphrase,
      POLY_TIMESTAMP: timestamp,
      POLY_SIGNATURE: signature,
    };
    const sent = body === '' ? { method, headers } : { method, headers, body };
    const response = await fetch(`${this.base}${path}${query}`, sent);
    const text = await response.text();
    const json = (text === '' ? {} : JSON.parse(text)) as Json;
    return { status: response.status, headers: response.headers, json };
  }

  async done(method: string, path: string, query = '', body = ''): Promise<Json> {
    const { json, status } = await this.ask(method, path, query, body);
    assert.equal(status, 200, `${method} ${path}${query}: ${JSON.stringify(json)}`);
    return json;
  }

  sign(version: Version, terms: Terms): Promise<SignedOrder> {
    return this.signer.sign(version, terms);
  }

  bodyOf({ item }: SignedOrder): string {
    return JSON.stringify({ ...item, owner: this.key.apiKey });
  }

  async post(order: SignedOrder): Promise<OrderAnswer> {
    const answer = checkTaken(await this.done('POST', '/order', '', this.bodyOf(order)));
    assert.equal(answer.orderID, order.id, 'the id is the digest of the order');
    return answer;
  }

  /** Text of the refusal of an order. */
  async refusal(version: Version, terms: Terms): Promise<string> {
    const order = await this.sign(version, terms);
    const { json, status } = await this.ask('POST', '/order', '', this.bodyOf(order));
    assert(status !== 200 || json.success === false, JSON.stringify(json));
    return String(json.error ?? json.errorMsg);
  }

  /** Ids of own open orders. */
  async open(): Promise<string[]> {
    return (await this.rows('/data/orders')).map(({ id }) => String(id));
  }

  async trades(query: Readonly<Record<string, string>> = {}): Promise<OwnTrade[]> {
    return (await this.rows('/data/trades', query)) as unknown as OwnTrade[];
  }

  private async rows(path: string, query: Readonly<Record<string, string>> = {}): Promise<Json[]> {
    const rows: Json[] = [];
    for (let cursor = ''; cursor !== 'LTE='; ) {
      const text = new URLSearchParams({ ...query, next_cursor: cursor });
      const page = await this.done('GET', path, `?${text}`);
      rows.push(...(page.data as Json[]));
      cursor = String(page.next_cursor);
    }
    return rows;
  }

  /** Micro-units of collateral, or of a token. */
  async balance(token?: string): Promise<bigint> {
    const type = ['plain', 'proxy', 'safe', 'deposit'].indexOf(this.kind);
    const asset =
      token === undefined
        ? 'asset_type=COLLATERAL'
        : `asset_type=CONDITIONAL${isPosition(BigInt(token)) ? '-V2' : ''}&token_id=${token}`;
    const query = `?${asset}&signature_type=${type}`;
    return BigInt(String((await this.done('GET', '/balance-allowance', query)).balance));
  }
}

/** The data API, which needs no credentials. */
export class OwnData {
  private readonly base: string;

  constructor(base: string) {
    this.base = base;
  }

  async get(path: string): Promise<Answer> {
    const response = await fetch(`${this.base}${path}`);
    return {
      status: response.status,
      headers: response.headers,
      json: (await response.json()) as Json,
    };
  }

  async found(path: string): Promise<Json> {
    const { json, status } = await this.get(path);
    assert.equal(status, 200, `${path}: ${JSON.stringify(json)}`);
    return json;
  }

  async list(path: string): Promise<readonly Json[]> {
    return (await this.found(path)) as unknown as readonly Json[];
  }

  /** Value of a route without pages. */
  async one(path: string): Promise<unknown> {
    return checkData(await this.found(`/v2/${path}`));
  }

  /** One row of such a route. */
  async row(form: FormName, path: string): Promise<Json> {
    return checkRow(form, (await this.one(path)) as Json);
  }

  /** Rows of all pages. @param form absent for a list that is empty here */
  async all(form: FormName | undefined, path: string): Promise<readonly Json[]> {
    const rows: Json[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const next = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const page = checkPage(form, await this.found(`/v2/${path}${next}`));
      rows.push(...page.rows);
      cursor = page.next;
    }
    return rows;
  }

  async refused(path: string, status: number): Promise<Json> {
    const { headers, json, status: found } = await this.get(`/v2/${path}`);
    assert.equal(found, status, JSON.stringify(json));
    checkRefusal(status, json, headers.get('x-trace-id'));
    return json;
  }
}
