/** A market: price, history, book and trades of one outcome, the own position, and the ticket. */
import { computed, type Signal, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import {
  chanceText,
  decimalsOf,
  momentText,
  priceText,
  sharesText,
  volumeText,
} from '../format.ts';
import { shares as heldShares, positions } from '../node/account.ts';
import { onMarketChange, quoteOf, useTokens } from '../node/follow.ts';
import { useLoaded } from '../node/load.ts';
import { type Market, readMarket } from '../node/markets.ts';
import { session } from '../node/session.ts';
import { chanceOf, sourceText } from '../parts/chance.tsx';
import { DepthChart } from '../parts/depth-chart.tsx';
import { Fact } from '../parts/fact.tsx';
import { HistoryChart } from '../parts/history-chart.tsx';
import { House } from '../parts/house.tsx';
import { Ladder } from '../parts/ladder.tsx';
import { MarketOutcome, STATES } from '../parts/market-outcome.tsx';
import { OpenOrders } from '../parts/open-orders.tsx';
import { Waiting } from '../parts/problem.tsx';
import { Tape } from '../parts/tape.tsx';
import { Ticket } from '../parts/ticket.tsx';
import { linkTo } from '../route.ts';

const READ_AGAIN_MS = 10_000;

export function MarketView({ id }: { readonly id: string }) {
  const market = useLoaded(`market:${id}`, () => readMarket(id), READ_AGAIN_MS);
  useEffect(() => onMarketChange(market.reload), []);
  useEffect(() => {
    if (market.value !== undefined) document.title = market.value.question;
  }, [market.value?.question]);
  const outcome = useSignal(0);
  const price = useSignal('');
  useTokens(market.value?.tokens ?? []);
  if (market.value === undefined) return <Waiting of={market} />;
  return <MarketPage market={market.value} outcome={outcome} price={price} />;
}

interface Shown {
  readonly market: Market;
  readonly outcome: Signal<number>;
  /** Price that a click on a level chose for the ticket; '' before one. */
  readonly price: Signal<string>;
}

function MarketPage({ market, outcome, price }: Shown) {
  const token = market.tokens[outcome.value] ?? '';
  const decimals = decimalsOf(market.tick);
  const name = market.outcomes[outcome.value] ?? '';
  const isTraded = market.state === 'open' || market.state === 'ended';
  return (
    <div class="market">
      <Head market={market} outcome={outcome.value} decimals={decimals} />
      <section class="card history" aria-label={`Price history of ${name}`}>
        <HistoryChart lines={[{ tokenId: token, name }]} decimals={decimals} />
      </section>
      <section class="card book" aria-label={`Book of ${name}`}>
        <h2>Book of {name}</h2>
        {isTraded && (
          <p class="muted small">Offers of others. Click a price to use it in the ticket.</p>
        )}
        <Ladder
          tokenId={token}
          decimals={decimals}
          choose={(chosen) => {
            price.value = chosen;
          }}
        />
      </section>
      <aside class="card ticket-card" aria-label="Ticket">
        {isTraded ? (
          <Ticket market={market} outcome={outcome} chosenPrice={price} />
        ) : (
          <p class="muted">
            {market.resolution === undefined
              ? STATES[market.state]
              : 'Trading is over. Shares were paid out to the cash of their holders; the statement in your portfolio lists it.'}
          </p>
        )}
      </aside>
      <section class="card depth" aria-label={`Depth of ${name}`}>
        <h2>Depth</h2>
        <DepthChart tokenId={token} decimals={decimals} />
      </section>
      <section class="card tape" aria-label={`Trades of ${name}`}>
        <h2>Trades</h2>
        <Tape market={market} outcome={outcome.value} decimals={decimals} />
      </section>
      <section class="card rules">
        <h2>Rules</h2>
        <p>{market.rules === '' ? 'The market has no rules of its own.' : market.rules}</p>
        <p class="muted">Ends {momentText(market.endDate)}</p>
        <House market={market} />
      </section>
    </div>
  );
}

function Head({
  decimals,
  market,
  outcome,
}: {
  readonly market: Market;
  readonly outcome: number;
  readonly decimals: number;
}) {
  const texts = useMemo(() => textsOf(market, outcome, decimals), [market, outcome, decimals]);
  const shares = heldShares.value.get(market.tokens[outcome] ?? '') ?? 0;
  const own = session.value;
  const name = market.outcomes[outcome] ?? '';
  const held = positions.value.find(({ asset }) => asset === market.tokens[outcome]);
  return (
    <header class="market-head">
      {market.eventTitle !== '' && market.eventTitle !== market.question && (
        <p>
          <a href={linkTo('event', market.eventId)}>{market.eventTitle}</a>
        </p>
      )}
      <h1>{market.question}</h1>
      <MarketOutcome market={market} />
      {market.resolution === undefined && (
        <p class="price">
          <strong class="tabular">{texts.chance}</strong>
          <span>
            chance of {name}, {texts.source}
          </span>
        </p>
      )}
      <dl class="facts tabular">
        {market.resolution === undefined && <Fact name="Buy at" value={texts.ask} />}
        {market.resolution === undefined && <Fact name="Sell at" value={texts.bid} />}
        <Fact name="Last trade" value={texts.last} />
        <Fact name="Traded" value={volumeText(market.volume)} />
        {(held !== undefined || shares > 0) && (
          <Fact
            name="You have"
            value={
              held === undefined
                ? sharesText(shares)
                : `${sharesText(Number(held.size))} at ${priceText(Number(held.avgPrice), decimals)}`
            }
          />
        )}
      </dl>
      {own !== undefined && <OpenOrders own={own} only={market.conditionId} />}
    </header>
  );
}

/** Texts that the stream of the market changes. */
function textsOf(market: Market, outcome: number, decimals: number) {
  const quote = quoteOf(market.tokens[outcome] ?? '');
  return {
    ask: computed(() => priceText(quote.value.ask, decimals)),
    bid: computed(() => priceText(quote.value.bid, decimals)),
    last: computed(() => priceText(quote.value.last, decimals)),
    chance: computed(() => chanceText(chanceOf(market, outcome))),
    source: computed(() => sourceText(quote.value)),
  };
}
