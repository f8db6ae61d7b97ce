/**
 * Answers of the data API of today as its clients read them: members, types and envelope, from the published sources. A
 * member behind `?` may be absent; any other member, or another type, is a disagreement.
 */
import assert from 'node:assert/strict';

export type Json = Readonly<Record<string, unknown>>;

type Form = readonly string[];

const MARKET = ['title', 'slug', 'icon', 'event_slug', 'outcome', '#outcome_index'];
const PROFILE = ['name', 'pseudonym', 'bio', 'profile_image', 'profile_image_optimized'];
const TRADE: Form = [
  ...['@proxy_wallet', 'side', 'token_id', 'condition_id', '#size', '#price', '#timestamp'],
  ...MARKET,
  ...PROFILE,
  'transaction_hash',
];
const GAINS = [
  ...['#avg_price', '#entry_cost_usdc', '#current_price', '#current_value'],
  ...['#realized_pnl', '#unrealized_pnl', '#total_pnl'],
];
const HOLDER: Form = [
  ...['@proxy_wallet', 'token_id', '#amount', '#outcome_index'],
  ...PROFILE,
  ...['!display_username_public', '!verified'],
];
const POINT: Form = [
  ...['#timestamp', '#source_block', '#realized_market_pnl', '#realized_lp_pnl'],
  ...['#realized_combo_pnl', '#realized_pnl', '#volume', '#volume_usdc', '#trade_count'],
  ...['#unrealized_pnl?', '#position_pnl?', '#fees?'],
];
const RANKED: Form = [
  ...['@user_id', '#pnl', '#volume', 'user_name', 'profile_image', 'x_username', '!verified'],
];

/** Mark: # number, ! boolean, [] array, {} object, @ address in lower case, ~ number or null, none text; `?` optional. */
const FORMS = {
  trades: TRADE,
  activity: [...TRADE, 'type', '#usdc_size'],
  positions: [
    ...['@proxy_wallet', 'token_id', 'condition_id', '#current_size', ...GAINS],
    ...['#entry_fees_usdc', '#total_cost_usdc', '#total_size', '#percent_pnl'],
    ...['#percent_realized_pnl', 'status', '!redeemable', '!mergeable', '!negative_risk'],
    ...['!archived', ...MARKET, 'event_id', 'opposite_outcome', 'opposite_token_id', 'end_date'],
    ...['#last_event_at', '#first_entry_at', 'name', 'profile_image', '!verified'],
  ],
  value: ['@proxy_wallet', '#value'],
  holders: ['token_id', '[]holders'],
  holder: HOLDER,
  holderWithGains: [...HOLDER, ...GAINS],
  oi: ['condition_id', '#value'],
  'live-volume': ['#taker_volume_total', '[]conditions'],
  'prices-history': ['#timestamp', '#price', '#resolution_seconds'],
  resolutions: [
    ...['condition_id', 'status', '!extended_review', '!was_disputed', '!new_version_q'],
    ...['transaction_hash', 'log_index', 'last_update_timestamp', '[]payouts?', 'resolved_at?'],
    ...['#resolved_block?', 'resolution_source?', '!was_arbitrated?'],
  ],
  leaderboard: ['#rank', ...RANKED],
  standing: ['~rank_pnl', '~rank_volume', ...RANKED],
  'user-stats': [
    ...['@proxy_wallet', '#trades', '#biggest_win', '#views', '~join_date', '{}all_time_pnl'],
  ],
  'user-pnl': ['@proxy_wallet', 'interval', 'fidelity', 'source_fidelity', '[]points'],
  point: POINT,
  'user-volume': ['#volume', '#volume_usdc', '#trade_count'],
  approvals: ['@address', '#chain_id', 'checked_at', '[]contracts'],
  approval: ['id', 'feature', '@token', '@spender', 'standard', 'amount?', '!approved'],
  status: ['computed_at', '#age_seconds', '{}serving', '{}ingestion'],
} as const satisfies Readonly<Record<string, Form>>;
export type FormName = keyof typeof FORMS;

const ADDRESS = /^0x[0-9a-f]{40}$/;
const MARKS: Readonly<Record<string, (value: unknown) => boolean>> = {
  '#': (value) => typeof value === 'number' && Number.isFinite(value),
  '!': (value) => typeof value === 'boolean',
  '[]': Array.isArray,
  '{}': (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  '@': (value) => ADDRESS.test(String(value)),
  '~': (value) => value === null || typeof value === 'number',
  '': (value) => typeof value === 'string',
};

/** Rejects a row whose members are not those of the form. */
export function checkRow(name: FormName, row: Json): Json {
  const left = new Set(Object.keys(row));
  for (const member of FORMS[name]) {
    const [, mark = '', field = '', optional] =
      /^(#|!|\[\]|\{\}|@|~|)(\w+)(\??)$/.exec(member) ?? [];
    if (!left.delete(field)) {
      assert.equal(optional, '?', `${name} has no ${field}: ${JSON.stringify(row)}`);
      continue;
    }
    assert(MARKS[mark]!(row[field]), `${name}.${field} is ${JSON.stringify(row[field])}`);
  }
  assert.deepEqual([...left], [], `${name} has members that clients do not know`);
  return row;
}

/** Rows of a page. Rejects what packages of the service reject: pagination that contradicts itself. */
export function checkPage(name: FormName | undefined, answer: Json, cursor = 'next'): Page {
  assert.deepEqual(Object.keys(answer).toSorted(), ['data', 'pagination'], cursor);
  const pagination = answer.pagination as Json;
  assert.deepEqual(Object.keys(pagination).toSorted(), [
    'has_more',
    'limit',
    'next_cursor',
    'offset',
  ]);
  const { has_more, limit, next_cursor, offset } = pagination;
  assert(Number.isInteger(limit) && Number.isInteger(offset));
  assert(next_cursor === null || typeof next_cursor === 'string');
  assert.equal(has_more, next_cursor !== null);
  const rows = answer.data as readonly Json[];
  assert(Array.isArray(rows));
  if (name === undefined) assert.deepEqual(rows, []);
  else for (const row of rows) checkRow(name, row);
  return { rows, next: next_cursor };
}

export interface Page {
  readonly rows: readonly Json[];
  readonly next: string | null;
}

/** Value of an answer without pages. */
export function checkData(answer: Json): unknown {
  assert.deepEqual(Object.keys(answer), ['data']);
  return answer.data;
}

const CODES: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  404: 'not_found',
  405: 'method_not_allowed',
  429: 'rate_limited',
};

export function checkRefusal(status: number, answer: Json, trace: string | null): void {
  const { code, error, parameter, retryable, trace_id } = answer;
  assert.equal(code, CODES[status], JSON.stringify(answer));
  assert.deepEqual(
    [typeof error, typeof retryable, typeof trace_id],
    ['string', 'boolean', 'string'],
  );
  assert(parameter === undefined || typeof parameter === 'string');
  assert.equal(trace, trace_id);
}

export interface OrderAnswer {
  readonly success: boolean;
  readonly errorMsg: string;
  readonly orderID: string;
  readonly status: string;
  readonly makingAmount: string;
  readonly takingAmount: string;
  readonly tradeIDs: readonly string[];
}

const AMOUNT = /^(?:|\d+(?:\.\d+)?)$/;

/** An answer to an order that was taken, as the packages of the service accept it. */
export function checkTaken(answer: Json): OrderAnswer {
  const text = JSON.stringify(answer);
  assert.deepEqual([answer.success, answer.errorMsg], [true, ''], text);
  assert(/^0x[0-9a-f]{64}$/.test(String(answer.orderID)), text);
  assert(['live', 'matched', 'delayed'].includes(String(answer.status)), text);
  for (const name of ['makingAmount', 'takingAmount']) assert.match(String(answer[name]), AMOUNT);
  const ids = (answer.tradeIDs ?? []) as readonly unknown[];
  assert(Array.isArray(ids) && ids.every((id) => typeof id === 'string' && id !== ''), text);
  // With ids and without hashes clients ask for the trades themselves.
  assert.deepEqual(answer.transactionsHashes ?? [], []);
  return { ...(answer as unknown as OrderAnswer), tradeIDs: ids as readonly string[] };
}

export interface OwnTrade {
  readonly id: string;
  readonly taker_order_id: string;
  readonly market: string;
  readonly asset_id: string;
  readonly side: string;
  readonly size: string;
  readonly price: string;
  readonly status: string;
  readonly maker_address: string;
  readonly transaction_hash: string;
  readonly trader_side: string;
  readonly maker_orders: readonly {
    readonly order_id: string;
    readonly maker_address: string;
    readonly matched_amount: string;
    readonly price: string;
    readonly asset_id: string;
    readonly side: string;
  }[];
}
