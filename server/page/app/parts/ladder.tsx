/**
 * The ladder of a book: asks above, bids below, own orders and the own position marked. A click on a level fills the price of the ticket.
 * Texts of levels are signals, which write their text nodes: no component is rendered again while the book changes.
 */
import { computed, type ReadonlySignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { priceText, sharesText } from '../format.ts';
import { openOrders, positions } from '../node/account.ts';
import { bookVersion, type Level, levelsOf } from '../node/follow.ts';

const ROWS = 10;
/** Scales of the bars, in a decade. */
const STEPS = 10;
type Side = 'ask' | 'bid';

interface Shown {
  readonly tokenId: string;
  readonly decimals: number;
  /** Absent: prices are no buttons. */
  readonly choose?: ((price: string) => void) | undefined;
}

interface Row {
  readonly level: Level | undefined;
  /** Shares of the level and of those before it. */
  readonly total: number;
}

/** Texts and marks of a level. */
interface Cells {
  readonly isEmpty: ReadonlySignal<boolean>;
  readonly price: ReadonlySignal<string>;
  readonly size: ReadonlySignal<string>;
  readonly total: ReadonlySignal<string>;
  /** Style of the row: the length of its bar. */
  readonly bar: ReadonlySignal<string>;
  /** An own order rests at the price. */
  readonly isOwn: ReadonlySignal<true | undefined>;
  /** The own shares were bought at it, on average. */
  readonly isBought: ReadonlySignal<boolean>;
}

interface Cellular {
  readonly asks: readonly Cells[];
  readonly bids: readonly Cells[];
  readonly spread: ReadonlySignal<string>;
  /** Own shares and their average price, as a sentence; '' without any. */
  readonly held: ReadonlySignal<string>;
}

export function Ladder({ choose, decimals, tokenId }: Shown) {
  const shown = useMemo(() => cellsOf(tokenId, decimals), [tokenId, decimals]);
  const row = (side: Side) => (cells: Cells, i: number) => (
    <LadderRow key={`${tokenId} ${i}`} side={side} cells={cells} choose={choose} />
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
      <tbody class="asks">{shown.asks.map(row('ask')).reverse()}</tbody>
      <tbody class="spread">
        <tr>
          <td colSpan={3}>
            <span class="cell">{shown.spread}</span>
          </td>
        </tr>
      </tbody>
      <tbody class="bids">{shown.bids.map(row('bid'))}</tbody>
      <Held text={shown.held} />
    </table>
  );
}

interface ShownRow {
  readonly side: Side;
  readonly cells: Cells;
  readonly choose: ((price: string) => void) | undefined;
}

function LadderRow({ cells, choose, side }: ShownRow) {
  if (cells.isEmpty.value) {
    return (
      <tr class="none">
        <td colSpan={3} />
      </tr>
    );
  }
  return (
    <tr data-own={cells.isOwn} style={cells.bar}>
      <th scope="row">
        <span class="cell">
          {choose === undefined ? (
            <span data-side={side}>{cells.price}</span>
          ) : (
            <button type="button" data-side={side} onClick={() => choose(cells.price.peek())}>
              {cells.price}
            </button>
          )}
          <Marks cells={cells} />
        </span>
      </th>
      <td>
        <span class="cell number">{cells.size}</span>
      </td>
      <td>
        <span class="cell number">{cells.total}</span>
      </td>
    </tr>
  );
}

function Marks({ cells: { isBought, isOwn } }: { readonly cells: Cells }) {
  return (
    <>
      {isOwn.value && <span class="own">yours</span>}
      {isBought.value && <span class="own">bought here</span>}
    </>
  );
}

function Held({ text }: { readonly text: ReadonlySignal<string> }) {
  if (text.value === '') return null;
  return (
    <tfoot>
      <tr>
        <td colSpan={3}>{text}</td>
      </tr>
    </tfoot>
  );
}

/** Texts that change only where their own value does. */
function cellsOf(tokenId: string, decimals: number): Cellular {
  const book = computed(() => {
    void bookVersion(tokenId).value;
    const levels = levelsOf(tokenId);
    const [asks, bids] = [rowsOf(levels?.asks ?? []), rowsOf(levels?.bids ?? [])];
    return { asks, bids, scale: scaleOf(Math.max(asks.at(-1)!.total, bids.at(-1)!.total)) };
  });
  const own = computed(() => ownPrices(tokenId, decimals));
  const held = computed(() =>
    positions.value.find(({ asset, size }) => asset === tokenId && Number(size) > 0),
  );
  const bought = computed(() => held.value && priceText(Number(held.value.avgPrice), decimals));
  const cells = (side: 'asks' | 'bids') =>
    Array.from({ length: ROWS }, (_none, i): Cells => {
      const level = (): Level | undefined => book.value[side][i]?.level;
      const price = computed(() => priceText(level()?.price, decimals));
      return {
        isEmpty: computed(() => level() === undefined),
        price,
        size: computed(() => sharesText(level()?.size ?? 0)),
        total: computed(() => sharesText(book.value[side][i]?.total ?? 0)),
        bar: computed(() => barStyle(book.value[side][i]?.total ?? 0, book.value.scale)),
        isOwn: computed(() => own.value.has(price.value) || undefined),
        isBought: computed(() => price.value === bought.value),
      };
    });
  return {
    asks: cells('asks'),
    bids: cells('bids'),
    spread: computed(() => {
      const { asks, bids } = book.value;
      return spreadText(asks[0]?.level, bids[0]?.level, decimals);
    }),
    held: computed(() =>
      held.value === undefined
        ? ''
        : `You have ${sharesText(Number(held.value.size))}, bought at ${bought.value}`,
    ),
  };
}

/** A custom property would be inherited by all that is in the row. */
function barStyle(total: number, scale: number): string {
  return `background-size: ${Math.round((100 * total) / scale)}% 100%`;
}

/** The next larger one of ten steps in a decade, so that a change of one row leaves the bars of most others. */
function scaleOf(most: number): number {
  return most > 0 ? 10 ** (Math.ceil(STEPS * Math.log10(most)) / STEPS) : 1;
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
