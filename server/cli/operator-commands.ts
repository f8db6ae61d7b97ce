/** Commands that list keys, orders and the audit log, by several pages if needed. */
import type { OperationOutput } from '../admin/operation-table.ts';
import { type Cells, given, printRows, walletOf } from './command.ts';
import type { Run } from './context.ts';
import { printTable } from './list-command.ts';
import { operate } from './operate.ts';
import { numberOf, optionOf, textOf } from './settings.ts';

type KeyRow = OperationOutput<'GET /admin/keys'>['keys'][number];
type OrderRow = OperationOutput<'GET /admin/orders'>['orders'][number];
type AuditRow = OperationOutput<'GET /admin/audit'>['entries'][number];

const PAGE = 1_000;
const KEY_CELLS: Cells<KeyRow> = {
  key: 'key',
  wallet: 'wallet',
  kind: 'kind',
  nonce: 'nonce',
  state: 'state',
};
const ORDER_CELLS: Cells<OrderRow> = {
  id: 'id',
  side: 'side',
  price: 'price',
  size: 'original_size',
  matched: 'size_matched',
  outcome: 'outcome',
  token: 'asset_id',
};
const AUDIT_CELLS: Cells<AuditRow> = {
  id: 'id',
  time: 'time',
  actor: 'actor',
  operation: 'route',
  result: ({ error, status }) =>
    status === undefined ? 'interrupted' : `${status}${error ? ` ${error}` : ''}`,
  input: ({ body }) => JSON.stringify(body),
};

export const listKeys: Run = async (context, _, options) => {
  const wallet = optionOf(options, 'wallet', walletOf);
  const rows: KeyRow[] = [];
  for (let more = true; more; ) {
    const input = given({ wallet, after: rows.at(-1)?.key });
    const page = await operate(context, options, 'GET /admin/keys', input);
    rows.push(...page.keys);
    more = page.more;
  }
  rows.sort((a, b) => (a.wallet < b.wallet ? -1 : a.wallet > b.wallet ? 1 : 0));
  if (options.json === true) return printRows(context, options, rows, KEY_CELLS);
  printTable(context.stdout, rows, { cells: KEY_CELLS, isDim: ({ state }) => state !== 'active' });
  return 'done';
};

export const listOrders: Run = async (context, [wallet = ''], options) => {
  const of = walletOf(wallet);
  const rows: OrderRow[] = [];
  for (let total = 1; rows.length < total; ) {
    const input = { wallet: of, limit: PAGE, offset: rows.length };
    const page = await operate(context, options, 'GET /admin/orders', input);
    rows.push(...page.orders);
    total = page.orders.length === 0 ? 0 : page.total;
  }
  return printRows(context, options, rows, ORDER_CELLS);
};

export const audit: Run = async (context, _, options) => {
  const limit = numberOf(textOf(options, 'limit') ?? '20', '--limit', 1);
  const { entries } = await operate(context, options, 'GET /admin/audit', { limit });
  return printRows(context, options, entries, AUDIT_CELLS);
};
