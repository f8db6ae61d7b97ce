/** The list of markets beside the one that the address names; of the others the busiest. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { volumeText } from '../../app/format.ts';
import { useTokens } from '../../app/node/follow.ts';
import { useLoaded } from '../../app/node/load.ts';
import {
  busiestMarkets,
  type Market,
  type MarketState,
  searchMarkets,
} from '../../app/node/markets.ts';
import { Chance, chanceTokens, Ended } from '../../app/parts/chance.tsx';
import { place } from '../place.ts';
import { MarketPanel } from './market.tsx';

type Filter = MarketState | 'all';

const FILTERS = {
  open: { text: 'Open', none: 'No open market yet', nothing: 'Nothing open' },
  paused: { text: 'Paused', none: 'No market is paused', nothing: 'Nothing paused' },
  ended: {
    text: 'End date past',
    none: 'No open market is past its end date',
    nothing: 'Nothing past its end date',
  },
  closed: { text: 'Closed', none: 'No market is closed', nothing: 'Nothing closed' },
  all: { text: 'All markets', none: 'No market yet', nothing: 'Nothing' },
} as const;
const STATES = { open: '', paused: 'Paused', ended: 'End date past', closed: 'Closed' };
const READ_AGAIN_MS = 3_000;
const SETTLE_MS = 150;
const SHOWN_MAX = 60;
const MINUTE_MS = 60_000;

/** Conditions on columns of the catalog. */
function conditionOf(filter: Filter): object {
  switch (filter) {
    case 'open':
      return { active: true, closed: false, accepting_orders: true };
    case 'paused':
      return { closed: false, accepting_orders: false };
    case 'ended': {
      // By the minute, so that the browser's cache is of use.
      const minute = new Date(Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS).toISOString();
      return { closed: false, accepting_orders: true, end_date_max: minute };
    }
    case 'closed':
      return { closed: true };
    case 'all':
      return {};
  }
}

async function readList(filter: Filter, words: string): Promise<readonly Market[]> {
  if (words === '') return busiestMarkets(conditionOf(filter), SHOWN_MAX);
  const isShown = ({ state }: Market): boolean =>
    // What has ended takes orders, as the other open ones do.
    filter === 'all' || state === filter || (filter === 'open' && state === 'ended');
  return (await searchMarkets(words, '')).filter(isShown).slice(0, SHOWN_MAX);
}

export function Markets() {
  const filter = useSignal<Filter>('open');
  const words = useSignal('');
  const key = `${filter.value} ${words.value}`;
  const list = useLoaded(key, () => readList(filter.value, words.value), READ_AGAIN_MS);
  const shown = useRef<HTMLUListElement>(null);
  const markets = useSteady(key, list.value ?? [], shown);
  const [name = ''] = place.value;
  const busiest = useRef<string | undefined>(undefined);
  busiest.current ??= markets[0]?.id;
  const isNamed = /^\d+$/.test(name);
  const chosen = isNamed ? name : busiest.current;
  const open = markets.filter(({ resolution }) => resolution === undefined);
  useTokens(open.flatMap(chanceTokens));
  const { none, nothing } = FILTERS[filter.value];
  let head =
    words.value === ''
      ? 'Busiest first, by 24 h volume'
      : `${markets.length} found for “${words.value}”`;
  if (list.failure !== '' && list.value === undefined) head = 'The API does not answer';
  else if (list.value === undefined) head = 'Loading markets';
  else if (markets.length === 0)
    head = words.value === '' ? none : `${nothing} is found for “${words.value}”`;
  return (
    <div class="desk-markets" data-chosen={isNamed || undefined}>
      <nav class="side" aria-label="Markets">
        <h1 class="narrow">Markets</h1>
        <Search list={shown} choose={(text) => (words.value = text)} />
        <label class="hidden" for="filter">
          Which markets
        </label>
        <select
          id="filter"
          value={filter.value}
          onChange={({ currentTarget }) => {
            filter.value = currentTarget.value as Filter;
          }}
        >
          {Object.entries(FILTERS).map(([value, { text }]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
        <p id="found" class="muted" role="status">
          {head}
        </p>
        <ul id="markets" ref={shown} onKeyDown={moveInList}>
          {markets.map((market) => (
            <Row key={market.id} market={market} isChosen={market.id === chosen} />
          ))}
        </ul>
      </nav>
      {chosen === undefined ? (
        <p class="muted">Choose a market</p>
      ) : (
        <MarketPanel key={chosen} id={chosen} outcome={Number(place.value[1] ?? 0) || 0} />
      )}
    </div>
  );
}

interface Searched {
  readonly list: { readonly current: HTMLUListElement | null };
  choose(words: string): void;
}

function Search({ choose, list }: Searched) {
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const { target } = event;
      const isTyping =
        target instanceof HTMLElement &&
        target.matches('input:not([type=radio]), textarea, select');
      if (event.key !== '/' || isTyping) return;
      event.preventDefault();
      input.current?.focus();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  const search = (text: string, ms = SETTLE_MS): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => choose(text.trim()), ms);
  };
  return (
    <search class="search">
      <input
        id="search"
        ref={input}
        type="search"
        aria-label="Search markets"
        aria-keyshortcuts="/"
        placeholder="Search markets ( / )"
        autocomplete="off"
        onInput={({ currentTarget }) => search(currentTarget.value)}
        onKeyDown={(event) => {
          const first = list.current?.querySelector('a');
          if (event.key === 'ArrowDown') {
            event.preventDefault();
            first?.focus();
          } else if (event.key === 'Enter') first?.click();
          else if (event.key === 'Escape') {
            event.currentTarget.value = '';
            search('', 0);
          }
        }}
      />
    </search>
  );
}

function moveInList(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const links = [...(event.currentTarget as HTMLElement).querySelectorAll('a')];
  const next = links.indexOf(document.activeElement as HTMLAnchorElement) + step;
  if (next < 0) document.getElementById('search')?.focus();
  else links[next]?.focus();
}

/** The markets with what is new, in the order of before while a pointer or the focus is on the list. */
function useSteady(
  key: string,
  markets: readonly Market[],
  list: { readonly current: HTMLUListElement | null },
): readonly Market[] {
  const before = useRef<{ key: string; ids: readonly string[] }>({ key, ids: [] });
  let shown = markets;
  if (before.current.key === key && list.current?.matches(':hover, :focus-within') === true) {
    const placeOf = new Map(before.current.ids.map((id, i) => [id, i]));
    const at = ({ id }: Market): number => placeOf.get(id) ?? placeOf.size;
    shown = [...markets].sort((a, b) => at(a) - at(b));
  }
  before.current = { key, ids: shown.map(({ id }) => id) };
  return shown;
}

function Row({ isChosen, market }: { readonly market: Market; readonly isChosen: boolean }) {
  const { eventTitle, id, outcomes, question, resolution, state, volumeDay } = market;
  const isPair = outcomes.length <= 2;
  return (
    <li>
      <a href={`#${id}`} aria-current={isChosen || undefined}>
        <span class="question">{question}</span>
        {resolution !== undefined ? (
          <Ended market={market} />
        ) : isPair ? (
          <Chance market={market} outcome={0} />
        ) : (
          <span class="outcomes">
            {outcomes.map((outcome, i) => (
              <span key={outcome}>
                <span class="clip">{outcome}</span> <Chance market={market} outcome={i} />
              </span>
            ))}
          </span>
        )}
        <span class="about muted">
          {resolution === undefined && STATES[state] !== '' && (
            <span class="badge">{STATES[state]}</span>
          )}
          <span class="clip">{eventTitle}</span>
          <span>{volumeText(volumeDay)} today</span>
        </span>
      </a>
    </li>
  );
}
