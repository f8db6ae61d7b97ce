/** The ladder of a book: asks above, bids below, own orders and the own position marked. A click on a level fills the price of the ticket. */
import { useMemo, useRef } from 'preact/hooks';
import { priceText, sharesText } from '../format.ts';
import { openOrders, positions } from '../node/account.ts';
import { bookVersion, type Level, levelsOf } from '../node/follow.ts';

const ROWS = 10;
const BAR_DECIMALS = 3;

interface Shown {
  readonly tokenId: string;
  readonly decimals: number;
  /** Absent: prices are no buttons. */
  readonly choose?: ((price: string) => void) | undefined;
}

interface Row {
  readonly level: Level | undefined;
  readonly total: number;
}

export function Ladder({ choose, decimals, tokenId }: Shown) {
  void bookVersion(tokenId).value;
  const levels = levelsOf(tokenId);
  const asks = rowsOf(levels?.asks ?? []);
  const bids = rowsOf(levels?.bids ?? []);
  const most = Math.max(asks.at(-1)?.total ?? 0, bids.at(-1)?.total ?? 0);
  const own = ownPrices(tokenId, decimals);
  const held = positions.value.find(({ asset, size }) => asset === tokenId && Number(size) > 0);
  const bought = held === undefined ? undefined : priceText(Number(held.avgPrice), decimals);
  const row = (side: 'ask' | 'bid') => (at: Row, i: number) => (
    <LadderRow
      key={i}
      side={side}
      row={at}
      most={most}
      decimals={decimals}
      own={own}
      bought={bought}
      choose={choose}
    />
  );
  return (
    <table class="ladder tabular">
      <caption class="hidden">Price levels: asks above, bids below</caption>
      <thead>
        <tr>
          <th scope="col">Price</th>
          <th scope="col">Shares</th>
          <th scope="col">Total</th>
        </tr>
      </thead>
      <tbody class="asks">{asks.map(row('ask')).reverse()}</tbody>
      <tbody class="spread">
        <tr>
          <td colSpan={3}>{spreadText(levels?.asks[0], levels?.bids[0], decimals)}</td>
        </tr>
      </tbody>
      <tbody class="bids">{bids.map(row('bid'))}</tbody>
      {held !== undefined && (
        <tfoot>
          <tr>
            <td colSpan={3}>
              You have {sharesText(Number(held.size))}, bought at {bought}
            </td>
          </tr>
        </tfoot>
      )}
    </table>
  );
}

function LadderRow({
  bought,
  choose,
  decimals,
  most,
  own,
  row: { level, total },
  side,
}: {
  readonly side: 'ask' | 'bid';
  readonly row: Row;
  readonly most: number;
  readonly decimals: number;
  readonly own: ReadonlySet<string>;
  /** Average price of the own shares. */
  readonly bought: string | undefined;
  readonly choose: ((price: string) => void) | undefined;
}) {
  if (level === undefined) {
    return (
      <tr class="none">
        <td colSpan={3} />
      </tr>
    );
  }
  const price = priceText(level.price, decimals);
  return (
    <Filled
      side={side}
      price={price}
      size={sharesText(level.size)}
      total={sharesText(total)}
      bar={(total / most).toFixed(BAR_DECIMALS)}
      isOwn={own.has(price)}
      isBought={price === bought}
      choose={choose}
    />
  );
}

interface FilledRow {
  readonly side: 'ask' | 'bid';
  readonly price: string;
  readonly size: string;
  readonly total: string;
  readonly bar: string;
  readonly isOwn: boolean;
  readonly isBought: boolean;
  readonly choose: ((price: string) => void) | undefined;
}

/** A row that is made again only where one of its texts changes. Cells as in tape.tsx. */
function Filled({ bar, choose, isBought, isOwn, price, side, size, total }: FilledRow) {
  const chosen = useRef(choose);
  chosen.current = choose;
  return useMemo(
    () => (
      <tr data-own={isOwn || undefined} style={{ '--bar': bar }}>
        <th scope="row">
          {choose === undefined ? (
            <span data-side={side}>{price}</span>
          ) : (
            <button type="button" data-side={side} onClick={() => chosen.current?.(price)}>
              {price}
            </button>
          )}
          {isOwn && <span class="own">yours</span>}
          {isBought && <span class="own">bought here</span>}
        </th>
        <td key={`size ${size}`}>{size}</td>
        <td key={`total ${total}`}>{total}</td>
      </tr>
    ),
    [bar, isBought, isOwn, price, side, size, total],
  );
}

function rowsOf(levels: readonly Level[]): Row[] {
  let total = 0;
  return Array.from({ length: ROWS }, (_none, i) => {
    const level = levels[i];
    total += level?.size ?? 0;
    return { level, total };
  });
}

function ownPrices(tokenId: string, decimals: number): ReadonlySet<string> {
  const prices = new Set<string>();
  for (const order of openOrders.value.values()) {
    if (order.tokenId === tokenId) prices.add(priceText(order.price, decimals));
  }
  return prices;
}

function spreadText(ask: Level | undefined, bid: Level | undefined, decimals: number): string {
  if (ask !== undefined && bid !== undefined) {
    return `↑ sellers · spread ${priceText(ask.price - bid.price, decimals)} · buyers ↓`;
  }
  return ask === bid
    ? 'Nobody offers anything now'
    : ask === undefined
      ? 'Nobody sells · buyers ↓'
      : '↑ sellers · nobody buys';
}
