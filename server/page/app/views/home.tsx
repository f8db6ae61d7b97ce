/** The first view: open markets in cards of their events, by volume, end or age, and by tag. */
import { signal } from '@preact/signals';
import { momentText, volumeText } from '../format.ts';
import { useTokens } from '../node/follow.ts';
import { useLoaded } from '../node/load.ts';
import { listMarkets, listTags, type Market } from '../node/markets.ts';
import { session } from '../node/session.ts';
import { Chance, chanceTokens, Ended } from '../parts/chance.tsx';
import { Choices } from '../parts/choices.tsx';
import { GetWallet } from '../parts/get-wallet.tsx';
import { MarketLinks } from '../parts/market-links.tsx';
import { Waiting } from '../parts/problem.tsx';
import { filter, linkTo } from '../route.ts';

const ORDERS = [
  { value: 'volume', text: 'Volume' },
  { value: 'ending', text: 'Ending soon' },
  { value: 'new', text: 'New' },
  { value: 'ended', text: 'Ended' },
] as const;

type Order = (typeof ORDERS)[number]['value'];

interface Card {
  readonly eventId: string;
  readonly title: string;
  readonly markets: readonly Market[];
}

const order = signal<Order>('volume');
const READ_AGAIN_MS = 15_000;
const TAGS_AGAIN_MS = 300_000;
/** Markets whose prices are followed; the others have those of the catalog. */
const FOLLOWED_MAX = 80;

/** @param tag slug of the only tag that is shown; '' = all */
export function Home({ tag }: { readonly tag: string }) {
  const chosen = order.value;
  const isEnded = chosen === 'ended';
  const key = `markets:${isEnded}:${tag}`;
  const list = useLoaded(key, () => listMarkets(isEnded, tag), READ_AGAIN_MS);
  const cards = cardsOf(list.value ?? [], chosen);
  const shown = isEnded ? [] : cards.flatMap(({ markets }) => markets).slice(0, FOLLOWED_MAX);
  useTokens(shown.flatMap(chanceTokens));
  return (
    <div class="home">
      <h1>Markets</h1>
      {session.value === undefined && (
        <p class="muted intro">
          Each market asks a question. A share of the right answer pays 1.00 in the end, others
          nothing, so a price of 0.68 says a chance of 68%. <GetWallet purpose="with play money" />
        </p>
      )}
      <div class="row">
        <Choices
          legend="Order of the list"
          name="order"
          options={ORDERS}
          value={chosen}
          choose={(value) => {
            order.value = value;
          }}
        />
        <Tags chosen={tag} />
      </div>
      {list.value === undefined ? (
        <Waiting of={list} />
      ) : (
        <div class="cards">
          {cards.map((card) => (
            <EventCard key={card.eventId} card={card} />
          ))}
          {cards.length === 0 && (
            <p class="muted">
              {isEnded ? 'No market has ended yet.' : 'There is no market here yet.'}
            </p>
          )}
        </div>
      )}
    </div>
  );
}

function Tags({ chosen }: { readonly chosen: string }) {
  const tags = useLoaded('tags', listTags, TAGS_AGAIN_MS).value ?? [];
  const isListed = chosen === '' || tags.some(({ slug }) => slug === chosen);
  if (tags.length === 0 && isListed) return null;
  return (
    <label class="field">
      <span>Tag</span>
      <select value={chosen} onChange={({ currentTarget }) => filter(currentTarget.value)}>
        <option value="">All tags</option>
        {!isListed && <option value={chosen}>{chosen}</option>}
        {tags.map(({ label, slug }) => (
          <option key={slug} value={slug}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}

function EventCard({ card: { eventId, markets, title } }: { readonly card: Card }) {
  const volume = markets.reduce((sum, market) => sum + market.volume, 0);
  const [first] = markets;
  const isSingle = markets.length === 1 && first !== undefined;
  return (
    <article class="card">
      <h2>
        {isSingle ? (
          <a href={linkTo('market', first.id)}>{first.question}</a>
        ) : (
          <a href={linkTo('event', eventId)}>{title}</a>
        )}
      </h2>
      {isSingle ? <Chances market={first} /> : <MarketLinks markets={markets} />}
      <p class="muted foot">
        {volumeText(volume)} traded · {endText(first)}
      </p>
    </article>
  );
}

function endText(market: Market | undefined): string {
  const at = market?.resolution?.at ?? '';
  return at === '' ? `ends ${momentText(market?.endDate ?? '')}` : `result of ${momentText(at)}`;
}

/** All outcomes of the only market of an event. */
function Chances({ market }: { readonly market: Market }) {
  return (
    <>
      <Ended market={market} />
      {market.resolution === undefined && (
        <ul class="chances">
          {market.outcomes.map((outcome, i) => (
            <li key={outcome}>
              <span class="clip">{outcome}</span>
              <Chance market={market} outcome={i} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function cardsOf(markets: readonly Market[], by: Order): Card[] {
  const events = new Map<string, Market[]>();
  for (const market of markets) {
    const key = market.eventId === '' ? `market ${market.id}` : market.eventId;
    const known = events.get(key);
    if (known === undefined) events.set(key, [market]);
    else known.push(market);
  }
  const cards = [...events].map(([eventId, own]) => ({
    eventId,
    title: own[0]!.eventTitle || own[0]!.question,
    markets: own,
  }));
  return cards.sort(COMPARE[by]);
}

type Compare = (a: Card, b: Card) => number;

const byVolume: Compare = (a, b) => sumOf(b) - sumOf(a);
const COMPARE: Readonly<Record<Order, Compare>> = {
  volume: byVolume,
  ending: (a, b) => timeOf(a, 'endDate') - timeOf(b, 'endDate'),
  new: (a, b) => timeOf(b, 'startDate') - timeOf(a, 'startDate'),
  ended: byVolume,
};

function sumOf({ markets }: Card): number {
  return markets.reduce((sum, { volume, volumeDay }) => sum + volumeDay + volume / 1e6, 0);
}

function timeOf({ markets }: Card, member: 'endDate' | 'startDate'): number {
  return Date.parse(markets[0]?.[member] ?? '') || 0;
}
