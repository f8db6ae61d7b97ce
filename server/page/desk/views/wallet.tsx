/** A wallet: balance, open orders, keys and statement, and what an operator does with it. */
import { useSignal } from '@preact/signals';
import { useLoaded } from '../../app/node/load.ts';
import { Fact } from '../../app/parts/fact.tsx';
import { WALLET_FORMS } from '../forms.ts';
import { call } from '../node/operator.ts';
import { type Row, Rows } from '../parts/answer.tsx';
import { OperationForm } from '../parts/operation-form.tsx';
import { type List, Pages } from '../parts/pages.tsx';

const ORDERS: List<{ readonly total: number; readonly orders: readonly Row[] }> = {
  of: 'GET /admin/orders',
  label: 'Open orders',
  columns: [
    'id',
    'market',
    'outcome',
    'side',
    'price',
    'original_size',
    'size_matched',
    'order_type',
  ],
  pageOf({ orders, total }, before) {
    const offset = before + orders.length;
    return { rows: orders, next: offset < total && orders.length > 0 ? { offset } : undefined };
  },
};

const KEYS: List<{ readonly more: boolean; readonly keys: readonly Row[] }> = {
  of: 'GET /admin/keys',
  label: 'Keys',
  columns: ['key', 'kind', 'state', 'nonce'],
  pageOf: ({ keys, more }) => ({
    rows: keys,
    next: more ? { after: keys.at(-1)?.key } : undefined,
  }),
};

interface Entry extends Row {
  readonly entry: number;
  /** Unix milliseconds. */
  readonly timestamp: number;
}

const ENTRIES: List<{ readonly more: boolean; readonly entries: readonly Entry[] }> = {
  of: 'GET /admin/ledger/statement',
  label: 'Statement',
  columns: [
    'entry',
    'time',
    'cause',
    'outcome',
    'cash',
    'shares',
    'cash_after',
    'shares_after',
    'condition_id',
    'reference',
  ],
  pageOf: ({ entries, more }) => ({
    rows: entries.map((entry) => ({ ...entry, time: new Date(entry.timestamp).toISOString() })),
    next: more ? { before: entries.at(-1)?.entry } : undefined,
  }),
};

/** The statement follows the ledger by about a second, and later where the machine is busy. */
const AGAIN_MS = [0, 1_500, 6_000];

interface Sums {
  readonly total: string;
  readonly reserved: string;
  readonly free: string;
}

interface Balance {
  readonly cash: Sums;
  readonly positions: readonly Row[];
}

export function WalletView({ wallet }: { readonly wallet: string }) {
  const version = useSignal(0);
  const fixed = { wallet };
  const readAgain = (): void => {
    for (const ms of AGAIN_MS) {
      setTimeout(() => {
        version.value += 1;
      }, ms);
    }
  };
  const shown = { input: fixed, version: version.value };
  return (
    <div class="desk-page">
      <header>
        <p class="muted">
          <a href="#wallets">All wallets</a>
        </p>
        <h1 class="address">{wallet}</h1>
      </header>
      <Funds key={version.value} wallet={wallet} />
      <div class="desk-grid">
        {WALLET_FORMS.map((form) => (
          <OperationForm key={form.of} {...form} fixed={fixed} done={readAgain} />
        ))}
      </div>
      <Pages list={ORDERS} {...shown} />
      <Pages list={KEYS} {...shown} />
      <Pages list={ENTRIES} {...shown} />
    </div>
  );
}

function Funds({ wallet }: { readonly wallet: string }) {
  const balance = useLoaded(`balance:${wallet}`, () =>
    call<Balance>('GET /admin/ledger/balance', { wallet }),
  );
  if (balance.value === undefined) {
    return balance.failure === '' ? null : <p class="muted">{balance.failure}</p>;
  }
  const { cash, positions } = balance.value;
  return (
    <section class="card desk-form" aria-label="Balance">
      <h2>Balance</h2>
      <dl class="facts tabular">
        <Fact name="Cash" value={cash.total} />
        <Fact name="Reserved" value={cash.reserved} />
        <Fact name="Free" value={cash.free} />
      </dl>
      <Rows
        label="Positions"
        columns={['slug', 'outcome', 'total', 'reserved', 'free']}
        rows={positions}
      />
    </section>
  );
}
