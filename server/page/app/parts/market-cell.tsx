/** Cells of the wallet's tables: market and side of a row, and the text of an empty table. */
import type { Market } from '../node/markets.ts';
import { linkTo } from '../route.ts';

interface Shown {
  /** Undefined before it is read. */
  readonly market: Market | undefined;
  readonly title: string;
  readonly outcome: string;
}

export function MarketCell({ market, outcome, title }: Shown) {
  return (
    <th scope="row" class="of-market">
      {market === undefined ? title : <a href={linkTo('market', market.id)}>{market.question}</a>}{' '}
      <span class="badge">{outcome}</span>
    </th>
  );
}

export function SideCell({ side }: { readonly side: string }) {
  const isSale = side === 'SELL';
  return <td class={isSale ? 'is-sell' : 'is-buy'}>{isSale ? 'Sell' : 'Buy'}</td>;
}

export function Nothing({ columns, text }: { readonly columns: number; readonly text: string }) {
  return (
    <tr class="none">
      <td colSpan={columns}>{text}</td>
    </tr>
  );
}
