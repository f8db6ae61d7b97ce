/** A wallet: balance, open orders, keys and statement, and what an operator does with it. */
import { useSignal } from '@preact/signals';
import { useLoaded } from '../../app/node/load.ts';
import { Fact } from '../../app/parts/fact.tsx';
import { call } from '../node/operator.ts';
import { Rows } from '../parts/answer.tsx';
import { OperationForm } from '../parts/operation-form.tsx';
import { Pages } from '../parts/pages.tsx';

const ORDERS = [
  'id',
  'market',
  'outcome',
  'side',
  'price',
  'original_size',
  'size_matched',
  'order_type',
];
const ENTRIES = [
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
];
const KEYS = ['key', 'kind', 'state', 'nonce'];
const ORDERS_PAGE = 100;
/** The statement follows the ledger by about a second, and later where the machine is busy. */
const AGAIN_MS = [0, 1_500, 6_000];

interface Sums {
  readonly total: string;
  readonly reserved: string;
  readonly free: string;
}

interface Balance {
  readonly cash: Sums;
  readonly positions: readonly Readonly<Record<string, unknown>>[];
}

/** Lists of the answers of these operations. */
interface Lists {
  readonly orders: readonly object[];
  readonly total: number;
  readonly keys: readonly { readonly key: string }[];
  readonly more: boolean;
  readonly entries: readonly { readonly entry: number; readonly timestamp: number }[];
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
  const form = (of: string, title: string, more: { main?: readonly string[] } = {}) => (
    <OperationForm of={of} title={title} fixed={fixed} done={readAgain} {...more} />
  );
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
        {form('POST /admin/ledger/deposit', 'Deposit', { main: ['amount'] })}
        {form('POST /admin/ledger/withdraw', 'Withdraw')}
        {form('POST /admin/orders/cancel', 'Cancel orders')}
        {form('POST /admin/bans', 'Ban')}
        {form('POST /admin/bans/lift', 'Lift the ban')}
        {form('POST /admin/wallets/name', 'Name it')}
        <OperationForm of="POST /admin/keys/revoke" title="Revoke a key" done={readAgain} />
      </div>
      <Pages
        of="GET /admin/orders"
        label="Open orders"
        input={{ ...fixed, limit: ORDERS_PAGE }}
        version={version.value}
        columns={ORDERS}
        pageOf={(answer) => {
          const { orders } = answer as unknown as Lists;
          return { rows: orders as never, next: undefined };
        }}
      />
      <Pages
        of="GET /admin/keys"
        label="Keys"
        input={fixed}
        version={version.value}
        columns={KEYS}
        pageOf={(answer) => {
          const { keys, more } = answer as unknown as Lists;
          return { rows: keys as never, next: more ? { after: keys.at(-1)?.key } : undefined };
        }}
      />
      <Pages
        of="GET /admin/ledger/statement"
        label="Statement"
        input={fixed}
        version={version.value}
        columns={ENTRIES}
        pageOf={(answer) => {
          const { entries, more } = answer as unknown as Lists;
          const rows = entries.map((entry) => ({
            ...entry,
            time: new Date(entry.timestamp).toISOString(),
          }));
          return { rows, next: more ? { before: entries.at(-1)?.entry } : undefined };
        }}
      />
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
