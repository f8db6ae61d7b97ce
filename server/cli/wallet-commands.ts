/** `wallet list`: wallets of a node by pages. */
import type { OperationOutput } from '../admin/operation-table.ts';
import { plainColumn, textColumn } from '../common/csv.ts';
import { given } from './command.ts';
import { listCommand } from './list-command.ts';
import { operate } from './operate.ts';
import { numberOf, textOf } from './settings.ts';

type WalletRow = OperationOutput<'GET /admin/wallets'>['wallets'][number];

export const listWallets = listCommand<WalletRow>({
  async page(context, options, { after, limit }) {
    const input = given({
      search: textOf(options, 'search'),
      funded: options.funded === true ? true : undefined,
      banned: options.banned === true ? true : undefined,
      after: after === undefined ? undefined : numberOf(after, '--after'),
      limit,
    });
    const { next, wallets } = await operate(context, options, 'GET /admin/wallets', input);
    return { rows: wallets, next: next === null ? undefined : String(next) };
  },
  columns: {
    wallet: plainColumn(({ wallet }) => wallet),
    name: textColumn(({ name }) => name),
    banned: plainColumn(({ banned }) => String(banned)),
    open_orders: plainColumn((row) => row.open_orders),
    cash_total: plainColumn(({ cash }) => cash?.total),
    cash_reserved: plainColumn(({ cash }) => cash?.reserved),
    cash_free: plainColumn(({ cash }) => cash?.free),
    positions: plainColumn(({ positions }) => positions),
  },
  shown: () => ({
    wallet: ({ wallet }) => wallet,
    name: ({ name }) => name,
    orders: (row) => String(row.open_orders),
    positions: ({ positions }) => String(positions ?? ''),
    cash: ({ cash }) => cash?.total ?? '',
    reserved: ({ cash }) => cash?.reserved ?? '',
    free: ({ cash }) => cash?.free ?? '',
    state: ({ banned }) => (banned ? 'banned' : ''),
  }),
  numbers: ['orders', 'positions', 'cash', 'reserved', 'free'],
  isDim: ({ banned }) => banned,
});
