/** Owners of wallets that relay batches at a node. */
import assert from 'node:assert/strict';
import { NodeClient, Wallet } from '../../client/client.ts';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import type { OperatorNode } from '../admin/operator-node.ts';
import { get, type Reply, send } from '../common/node-harness.ts';
import { type BatchTerms, batch, type Call, type Kind, walletOf } from './batches.ts';

export interface Venue {
  readonly operator: OperatorNode;
  readonly markets: readonly CatalogMarket[];
}

export const M = 1_000_000;

export class Owner {
  readonly venue: Venue;
  readonly kind: Kind;
  readonly wallet: Wallet;
  readonly address: string;
  nonce = 0;

  constructor(venue: Venue, name: string, kind: Kind = 'WALLET') {
    this.venue = venue;
    this.kind = kind;
    this.wallet = Wallet.fromSeed(`owner of ${name}`);
    this.address = walletOf(kind, this.wallet.address);
  }

  /** Joins with an API key, and funds of its wallet. */
  static async join(
    venue: Venue,
    name: string,
    kind: Kind = 'WALLET',
    funds = 100,
  ): Promise<Owner> {
    const { operator } = venue;
    const owner = new Owner(venue, name, kind);
    const url = `http://127.0.0.1:${operator.node.port}`;
    (await NodeClient.connect(url, { wallet: owner.wallet })).close();
    const id = `funds of ${name}`;
    const deposit = { wallet: owner.address, amount: String(funds), id };
    if (funds > 0) await operator.done('POST /admin/ledger/deposit', deposit);
    return owner;
  }

  signed(calls: readonly Call[], terms: Partial<BatchTerms> = {}) {
    return batch(this.kind, this.wallet.exportKey(), { nonce: this.nonce, calls, ...terms });
  }

  async send(calls: readonly Call[], terms: Partial<BatchTerms> = {}): Promise<Reply> {
    return submit(this.venue, await this.signed(calls, terms));
  }

  /** Sends a batch that is applied, and reads it back. */
  async does(...calls: Call[]): Promise<void> {
    const { json, status, text } = await this.send(calls);
    assert.equal(status, 200, text);
    const { state, transactionHash, transactionID: id } = json as Record<string, string>;
    assert.equal(state, 'STATE_NEW');
    this.nonce += 1;
    const shown = (await get(this.venue.operator.node, `/v1/account/transactions/${id}`)).json;
    const confirmed = { transaction_id: id, transaction_hash: transactionHash, error_msg: '' };
    assert.deepEqual(shown, { ...confirmed, state: 'STATE_CONFIRMED' });
    await this.isNext();
  }

  /** Sends a batch that is refused, and changes nothing. */
  async fails(code: string, calls: readonly Call[], terms: Partial<BatchTerms> = {}) {
    const before = await this.has();
    const { json, status, text } = await this.send(calls, terms);
    assert(status >= 400 && status < 500, text);
    const error = json as { readonly code: string; readonly error: string; readonly call?: string };
    assert.equal(error.code, code, text);
    await this.isNext();
    assert.deepEqual(await this.has(), before);
    return error;
  }

  async isNext(): Promise<void> {
    const query = `?address=${this.wallet.address}&type=${this.kind}`;
    const nonce = String(this.nonce);
    assert.deepEqual((await get(this.venue.operator.node, `/nonce${query}`)).json, { nonce });
    const path = `/v1/account/transactions/params${query}`;
    const params = (await get(this.venue.operator.node, path)).json;
    assert.deepEqual(params, { address: this.wallet.address, nonce });
  }

  /** Cash, then shares of both outcomes of each market, in units. */
  async has(): Promise<readonly number[]> {
    const { json, status } = await this.venue.operator.call(
      `GET /admin/ledger/balance?wallet=${this.address}`,
    );
    if (status === 404) return [];
    const { cash, positions } = json as unknown as {
      readonly cash: { readonly total: string };
      readonly positions: readonly { readonly token_id: string; readonly total: string }[];
    };
    const shares = this.venue.markets.flatMap(({ tokenIds }) =>
      tokenIds.map((id) => positions.find((each) => each.token_id === id)?.total ?? '0'),
    );
    return [cash.total, ...shares].map(Number);
  }
}

export function submit({ operator }: Venue, body: object): Promise<Reply> {
  return send(operator.node, 'POST', '/submit', {}, JSON.stringify(body));
}
