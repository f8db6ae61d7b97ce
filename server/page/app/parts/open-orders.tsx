/** Open orders of the wallet, with buttons that cancel them: of all markets, or of one. */
import { useRef } from 'preact/hooks';
import { momentText, priceText, sharesText } from '../format.ts';
import { type OpenOrder, openOrders } from '../node/account.ts';
import { type Market, useMarkets } from '../node/markets.ts';
import type { Session } from '../node/session.ts';
import { notify } from '../notices.ts';
import { textOf } from '../refusal-words.ts';
import { MarketCell, Nothing, SideCell } from './market-cell.tsx';
import { Table } from './table.tsx';

const DECIMALS = 3;
/** Columns behind that of the market or the outcome. */
const COLUMNS = [
  'Side',
  'Price',
  'Shares',
  'Filled',
  'Ends',
  <span key="cancel" class="hidden">
    Cancel
  </span>,
];

interface Shown {
  readonly own: Session;
  /** Condition id of the only market; absent: all, also where there is none. */
  readonly only?: string;
}

export function OpenOrders({ only, own }: Shown) {
  const section = useRef<HTMLElement>(null);
  const rows = [...openOrders.value.values()].filter(
    ({ conditionId }) => only === undefined || conditionId === only,
  );
  const named = only === undefined ? rows : [];
  const markets = useMarkets(named.map(({ conditionId }) => conditionId));
  if (only !== undefined && rows.length === 0) return null;
  // The button that had the focus goes away with its order.
  const keepFocus = (): void => section.current?.focus();
  const cancelAll = (): void => {
    const { orders } = own.client;
    (only === undefined ? orders.cancelAll() : orders.cancelMarket({ market: only })).then(
      ({ canceled }) => {
        notify('good', canceledText(canceled.length));
        keepFocus();
      },
      (error: unknown) => notify('warning', textOf(error)),
    );
  };
  return (
    <section ref={section} class="card orders" tabIndex={-1} aria-label="Your open orders">
      <Table
        label="Open orders, table"
        caption={only === undefined ? 'Open orders' : 'Your orders in this market'}
        columns={[only === undefined ? 'Market' : 'Outcome', ...COLUMNS]}
      >
        {rows.map((order) => (
          <OrderRow
            key={order.id}
            order={order}
            own={own}
            market={only === undefined ? markets.get(order.conditionId) : undefined}
            onCanceled={keepFocus}
          />
        ))}
        {rows.length === 0 && (
          <Nothing
            columns={COLUMNS.length + 1}
            text="No order rests. A limit order waits here until it trades."
          />
        )}
      </Table>
      <button type="button" class="plain danger" disabled={rows.length === 0} onClick={cancelAll}>
        {only === undefined ? 'Cancel all' : 'Cancel these'}
      </button>
    </section>
  );
}

function OrderRow({
  market,
  onCanceled,
  order,
  own,
}: {
  readonly order: OpenOrder;
  readonly own: Session;
  readonly market: Market | undefined;
  onCanceled(): void;
}) {
  const { expiration, filled, id, outcome, price, side, size } = order;
  const cancel = (): void => {
    own.client.orders.cancel(id).then(
      ({ not_canceled }) => {
        const reason = not_canceled[id];
        if (reason === undefined) notify('good', canceledText(1));
        else notify('warning', `The order is not cancelled: ${reason}`);
        onCanceled();
      },
      (error: unknown) => notify('warning', textOf(error)),
    );
  };
  return (
    <tr>
      <MarketCell market={market} title="" outcome={outcome} />
      <SideCell side={side} />
      <td>{priceText(price, DECIMALS)}</td>
      <td>{sharesText(size)}</td>
      <td>{sharesText(filled)}</td>
      <td>{expiration === 0 ? 'when cancelled' : momentText(expiration * 1_000)}</td>
      <td>
        <button type="button" class="plain" onClick={cancel}>
          Cancel<span class="hidden"> the order for {outcome}</span>
        </button>
      </td>
    </tr>
  );
}

function canceledText(count: number): string {
  return count === 1 ? 'The order is cancelled' : `${count} orders are cancelled`;
}
