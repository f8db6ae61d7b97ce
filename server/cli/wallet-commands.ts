/** `wallet`: which there are, and what an operator calls them. */
import type { OperationOutput } from '../admin/operation-table.ts';
import { plainColumn, textColumn } from '../common/csv.ts';
import { Refused } from './context.ts';
import { listCommand } from './list-command.ts';
import { operate } from './operate.ts';
import { command, walletOf } from './operator-commands.ts';
import { numberOf, textOf } from './settings.ts';

type WalletRow = OperationOutput<'GET /admin/wallets'>['wallets'][number];

export const listWallets = listCommand<WalletRow>({
  async page(context, options, { after, limit }) {
    const search = textOf(options, 'search');
    const { next, wallets } = await operate(context, options, 'GET /admin/wallets', {
      ...(search === undefined ? {} : { search }),
      ...(options.funded === true ? { funded: true } : {}),
      ...(options.banned === true ? { banned: true } : {}),
      ...(after === undefined ? {} : { after: numberOf(after, '--after') }),
      limit,
    });
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

export const nameWallet = command(
  'POST /admin/wallets/name',
  ([wallet = '', name]) => {
    if (name === '') throw new Refused('NAME is empty: leave it out to take the name away');
    return { wallet: walletOf(wallet), ...(name === undefined ? {} : { name }) };
  },
  ({ changed, name, wallet }) => {
    if (name === '') return `${wallet} ${changed ? 'has no name any more' : 'had no name'}`;
    return `${wallet} is ${name}${changed ? '' : ', as before'}`;
  },
);
