/** Markets of an event: a link for each, with its chance or its result. */
import type { Market } from '../node/markets.ts';
import { linkTo } from '../route.ts';
import { Chance, Ended } from './chance.tsx';

interface Shown {
  readonly markets: readonly Market[];
  readonly isLarge?: boolean;
}

export function MarketLinks({ isLarge, markets }: Shown) {
  return (
    <ul class={isLarge === true ? 'chances large' : 'chances'}>
      {markets.map((market) => (
        <li key={market.id}>
          <a class="clip" href={linkTo('market', market.id)}>
            {market.question}
          </a>
          <Ended market={market} />
          {market.resolution === undefined && <Chance market={market} outcome={0} />}
        </li>
      ))}
    </ul>
  );
}
