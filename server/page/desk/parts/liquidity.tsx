/** Liquidity of the house on the desk: accounts of all markets, and that of one with what is paid in and out. */
import { useSignal } from '@preact/signals';
import type { LiquidityMarket } from '../../../../client/types.ts';
import { moneyText } from '../../app/format.ts';
import { modes } from '../../app/node/api.ts';
import { useLoaded } from '../../app/node/load.ts';
import { type Market, useMarkets } from '../../app/node/markets.ts';
import { House, resultsOf } from '../../app/parts/house.tsx';
import { Waiting } from '../../app/parts/problem.tsx';
import { Table } from '../../app/parts/table.tsx';
import { call, may } from '../node/operator.ts';
import { OperationForm } from './operation-form.tsx';

const LIST = 'GET /admin/liquidity';
const COLUMNS = ['Market', 'State', 'Paid in', 'Paid out', 'Balance', 'Orders', 'Cost or gain'];
const READ_AGAIN_MS = 10_000;

interface ListAnswer {
  readonly markets: readonly LiquidityMarket[];
}

export function HouseMarkets() {
  return may(LIST) ? <Listed /> : null;
}

function Listed() {
  const list = useLoaded(LIST, () => call<ListAnswer>(LIST), READ_AGAIN_MS);
  const rows = list.value?.markets ?? [];
  const markets = useMarkets(rows.map(({ condition }) => condition));
  if (list.value === undefined) return <Waiting of={list} />;
  return (
    <section class="card" aria-label="Liquidity of the house">
      <h2>Liquidity of the house</h2>
      {rows.length === 0 ? (
        <p class="muted">The house quotes no market. The page of a market can give it liquidity.</p>
      ) : (
        <Table label="Liquidity of the house, table" columns={COLUMNS}>
          {rows.map((row) => (
            <Row key={row.condition} row={row} market={markets.get(row.condition)} />
          ))}
        </Table>
      )}
    </section>
  );
}

interface RowProps {
  readonly row: LiquidityMarket;
  /** Undefined before it is read, and where the catalog does not list it. */
  readonly market: Market | undefined;
}

function Row({ market, row }: RowProps) {
  const { cash, condition, orders, paid_in, paid_out, state } = row;
  return (
    <tr>
      <th scope="row">
        {market === undefined ? condition : <a href={`#${market.id}`}>{market.question}</a>}
      </th>
      <td>{state}</td>
      <td>{moneyText(Number(paid_in))}</td>
      <td>{moneyText(Number(paid_out))}</td>
      <td>{moneyText(Number(cash))}</td>
      <td>{orders}</td>
      <td>
        {resultsOf(row)
          .map(({ name, text }) => `${name}: ${text}`)
          .join(', ')}
      </td>
    </tr>
  );
}

export function MarketLiquidity({ market }: { readonly market: Market }) {
  const version = useSignal(0);
  const hasLedger = modes.value?.ledger === true;
  const isQuotable = hasLedger && market.outcomes.length === 2;
  if (!may('POST /admin/liquidity/add') || !isQuotable) return null;
  const shared = {
    fixed: { condition: market.conditionId },
    done: (): void => {
      version.value += 1;
    },
  };
  return (
    <details class="edit">
      <summary>Liquidity of the house</summary>
      <div class="desk-grid">
        <section class="card">
          <House market={market} version={version.value} />
        </section>
        {market.state !== 'closed' && (
          <OperationForm of="POST /admin/liquidity/add" title="Add liquidity" {...shared} />
        )}
        <OperationForm of="POST /admin/liquidity/remove" title="Remove liquidity" {...shared} />
      </div>
    </details>
  );
}
