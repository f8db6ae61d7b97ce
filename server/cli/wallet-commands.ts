/** `wallet list`: wallets of a node by pages. */
import type { OperationOutput } from '../admin/operation-table.ts';
import { given } from './command.ts';
import { columnsOf, listCommand } from './list-command.ts';
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
  columns: columnsOf<WalletRow>(
    {
      wallet: 'wallet',
      name: 'name',
      banned: ({ banned }) => String(banned),
      open_orders: 'open_orders',
      cash_total: ({ cash }) => cash?.total ?? '',
      cash_reserved: ({ cash }) => cash?.reserved ?? '',
      cash_free: ({ cash }) => cash?.free ?? '',
      positions: 'positions',
    },
    ['name'],
  ),
  shown: () => ({
    wallet: 'wallet',
    name: 'name',
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
