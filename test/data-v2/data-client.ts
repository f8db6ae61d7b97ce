/**
 * A client of the routes below /v2 as the packages of the other service read them: it rejects a list whose pagination
 * contradicts itself, and rows with members or types that those packages do not know.
 */
import assert from 'node:assert/strict';
import { get, type Reply } from '../common/node-harness.ts';

export type Row = Readonly<Record<string, unknown>>;

type Kind = 'array' | 'boolean' | 'number' | 'string';
export type RowForm = Readonly<Record<string, Kind>>;

const MARKET: RowForm = {
  title: 'string',
  slug: 'string',
  icon: 'string',
  event_slug: 'string',
  outcome: 'string',
  outcome_index: 'number',
};
const PROFILE: RowForm = {
  name: 'string',
  pseudonym: 'string',
  bio: 'string',
  profile_image: 'string',
  profile_image_optimized: 'string',
};

export const TRADE: RowForm = {
  proxy_wallet: 'string',
  side: 'string',
  token_id: 'string',
  condition_id: 'string',
  size: 'number',
  price: 'number',
  timestamp: 'number',
  ...MARKET,
  ...PROFILE,
  transaction_hash: 'string',
};

export const ACTIVITY: RowForm = { ...TRADE, type: 'string', usdc_size: 'number' };

const GAINS: RowForm = {
  avg_price: 'number',
  entry_cost_usdc: 'number',
  current_price: 'number',
  current_value: 'number',
  realized_pnl: 'number',
  unrealized_pnl: 'number',
  total_pnl: 'number',
};

export const POSITION: RowForm = {
  proxy_wallet: 'string',
  token_id: 'string',
  condition_id: 'string',
  current_size: 'number',
  ...GAINS,
  entry_fees_usdc: 'number',
  total_cost_usdc: 'number',
  total_size: 'number',
  percent_pnl: 'number',
  percent_realized_pnl: 'number',
  status: 'string',
  redeemable: 'boolean',
  mergeable: 'boolean',
  negative_risk: 'boolean',
  archived: 'boolean',
  ...MARKET,
  event_id: 'string',
  opposite_outcome: 'string',
  opposite_token_id: 'string',
  end_date: 'string',
  last_event_at: 'number',
  first_entry_at: 'number',
  name: 'string',
  profile_image: 'string',
  verified: 'boolean',
};

export const HOLDER: RowForm = {
  proxy_wallet: 'string',
  token_id: 'string',
  amount: 'number',
  outcome_index: 'number',
  ...PROFILE,
  display_username_public: 'boolean',
  verified: 'boolean',
};
export const HOLDER_WITH_GAINS: RowForm = { ...HOLDER, ...GAINS };

export const HOLDERS: RowForm = { token_id: 'string', holders: 'array' };

export const POINT: RowForm = {
  timestamp: 'number',
  price: 'number',
  resolution_seconds: 'number',
};

interface Page {
  readonly data: readonly Row[];
  readonly pagination: {
    readonly limit: number;
    readonly offset: number;
    readonly has_more: boolean;
    readonly next_cursor: string | null;
  };
}

type Query = Readonly<Record<string, string | number | boolean>>;

export class DataClient {
  private readonly node: { readonly port: number };

  constructor(node: { readonly port: number }) {
    this.node = node;
  }

  ask(path: string, query: Query = {}): Promise<Reply> {
    const pairs = Object.entries(query).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]);
    const text = new URLSearchParams(pairs).toString();
    return get(this.node, `/v2/${path}${text === '' ? '' : `?${text}`}`);
  }

  /** `data` of an answer without pages. */
  async one<T>(path: string, query: Query = {}): Promise<T> {
    const { json, status, text } = await this.ask(path, query);
    assert.equal(status, 200, text);
    assert.deepEqual(Object.keys(json as object), ['data'], text);
    return (json as { readonly data: T }).data;
  }

  async page(path: string, form: RowForm, query: Query = {}): Promise<Page> {
    const { json, status, text } = await this.ask(path, query);
    assert.equal(status, 200, text);
    const page = json as Page;
    assert.deepEqual(Object.keys(page), ['data', 'pagination']);
    const { has_more, limit, next_cursor, offset } = page.pagination;
    assert.equal(has_more, next_cursor !== null, text);
    assert.deepEqual([Number.isInteger(limit), Number.isInteger(offset)], [true, true]);
    for (const row of page.data) checkRow(row, form);
    return page;
  }

  /** Rows of all pages; `between` runs between two of them. */
  async all(
    path: string,
    form: RowForm,
    query: Query,
    between: () => Promise<void> = async () => undefined,
  ): Promise<Row[]> {
    const rows: Row[] = [];
    let cursor: string | null = null;
    do {
      const sent: Query = cursor === null ? query : { ...query, cursor };
      const page: Page = await this.page(path, form, sent);
      // The limit of holders is for each token.
      assert(form === HOLDERS || page.data.length <= page.pagination.limit);
      rows.push(...page.data);
      cursor = page.pagination.next_cursor;
      if (cursor !== null) await between();
    } while (cursor !== null);
    return rows;
  }
}

function checkRow(row: Row, form: RowForm): void {
  assert.deepEqual(Object.keys(row).sort(), Object.keys(form).sort());
  for (const [name, kind] of Object.entries(form)) {
    const value = row[name];
    assert.equal(Array.isArray(value) ? 'array' : typeof value, kind, name);
    if (name === 'proxy_wallet') assert.match(String(value), /^0x[0-9a-f]{40}$/);
  }
}
