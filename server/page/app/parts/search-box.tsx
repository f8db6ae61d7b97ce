/** Search of markets while the reader types; where the first view shows one tag, among its markets. */
import { signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { type Market, searchMarkets } from '../node/markets.ts';
import { linkTo, route } from '../route.ts';
import { Ended } from './chance.tsx';

/** Markets that a text has found; undefined while nothing is searched. */
const found = signal<readonly Market[] | undefined>(undefined);
const SETTLE_MS = 150;
const SHOWN_MAX = 12;

export function SearchBox() {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const asked = useRef('');
  const input = useRef<HTMLInputElement>(null);
  const search = (text: string): void => {
    asked.current = text;
    clearTimeout(timer.current);
    if (text.trim() === '') {
      found.value = undefined;
      return;
    }
    timer.current = setTimeout(() => {
      const at = route.peek();
      searchMarkets(text, at.view === 'home' ? at.tag : '').then(
        (markets) => {
          if (asked.current === text) found.value = markets.slice(0, SHOWN_MAX);
        },
        () => {
          if (asked.current === text) found.value = [];
        },
      );
    }, SETTLE_MS);
  };
  const close = (): void => {
    found.value = undefined;
    if (input.current !== null) input.current.value = '';
  };
  return (
    <search class="search">
      <input
        id="search"
        ref={input}
        type="search"
        aria-label="Search markets"
        placeholder="Search markets"
        autocomplete="off"
        onInput={({ currentTarget }) => search(currentTarget.value)}
        onKeyDown={({ key }) => {
          if (key === 'Escape') close();
        }}
      />
      {found.value !== undefined && <Results markets={found.value} close={close} />}
    </search>
  );
}

function Results({ close, markets }: { readonly markets: readonly Market[]; close(): void }) {
  if (markets.length === 0) return <p class="results muted">No market has these words</p>;
  return (
    <ul class="results" aria-label="Found markets">
      {markets.map((market) => (
        <li key={market.id}>
          <a href={linkTo('market', market.id)} onClick={close}>
            {market.question}
            {market.eventTitle !== market.question && <small>{market.eventTitle}</small>}
            <Ended market={market} />
          </a>
        </li>
      ))}
    </ul>
  );
}
