/** Wallets that were paid in or have traded, by a search. */
import { useSignal } from '@preact/signals';
import { moneyText, NONE } from '../../app/format.ts';
import { useLoaded } from '../../app/node/load.ts';
import { Waiting } from '../../app/parts/problem.tsx';
import { Table } from '../../app/parts/table.tsx';
import { call, may } from '../node/operator.ts';

const LIMIT = 100;
const COLUMNS = ['Wallet', 'Name', 'Cash', 'Free', 'Positions', 'Open orders', 'State'];

interface Wallet {
  readonly wallet: string;
  readonly name: string;
  readonly banned: boolean;
  readonly open_orders: number;
  readonly cash?: { readonly total: string; readonly free: string };
  readonly positions?: number;
}

interface Page {
  readonly wallets: readonly Wallet[];
  readonly next: number | null;
}

/** Whole pages: one may be short and have further ones. */
async function readWallets(search: string, least: number): Promise<Page> {
  const wallets: Wallet[] = [];
  let after: number | null = 0;
  while (after !== null && wallets.length < least) {
    const input: object = { limit: LIMIT, after, ...(search === '' ? {} : { search }) };
    const found: Page = await call('GET /admin/wallets', input);
    wallets.push(...found.wallets);
    after = found.next;
  }
  return { wallets, next: after };
}

export function Wallets() {
  const search = useSignal('');
  const least = useSignal(LIMIT);
  const text = search.value.trim();
  const key = `wallets:${text}:${least.value}`;
  const found = useLoaded(key, () => readWallets(text, least.value));
  if (!may('GET /admin/wallets')) return <p class="muted">This token may not see wallets.</p>;
  return (
    <div class="desk-page">
      <h1>Wallets</h1>
      <label class="field wide-field">
        <span>Part of an address or of a name; a whole address opens any wallet</span>
        <input
          type="search"
          value={search.value}
          onInput={({ currentTarget }) => {
            search.value = currentTarget.value;
            least.value = LIMIT;
          }}
        />
      </label>
      {/^0x[0-9a-f]{40}$/i.test(text) && (
        <p>
          <a href={`#wallet/${text}`}>Open {text}</a>
        </p>
      )}
      {found.value === undefined ? (
        <Waiting of={found} />
      ) : (
        <section class="card">
          <Found wallets={found.value.wallets} />
          {found.value.next !== null && (
            <button
              type="button"
              class="plain"
              onClick={() => {
                least.value += LIMIT;
              }}
            >
              More
            </button>
          )}
        </section>
      )}
    </div>
  );
}

function Found({ wallets }: { readonly wallets: readonly Wallet[] }) {
  if (wallets.length === 0) return <p class="muted">No wallet is found.</p>;
  return (
    <Table label="Wallets" columns={COLUMNS}>
      {wallets.map(({ banned, cash, name, open_orders, positions, wallet }) => (
        <tr key={wallet}>
          <td>
            <a href={`#wallet/${wallet}`}>{wallet}</a>
          </td>
          <td>{name}</td>
          <td>{cash === undefined ? NONE : moneyText(Number(cash.total))}</td>
          <td>{cash === undefined ? NONE : moneyText(Number(cash.free))}</td>
          <td>{positions ?? NONE}</td>
          <td>{open_orders}</td>
          <td>{banned && <span class="badge">Banned</span>}</td>
        </tr>
      ))}
    </Table>
  );
}
