/** An event: its markets with their chances, the history of the leading ones, and the rules. */
import { computed, untracked } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { momentText, volumeText } from '../format.ts';
import { useTokens } from '../node/follow.ts';
import { useLoaded } from '../node/load.ts';
import { type Market, type MarketEvent, readEvent } from '../node/markets.ts';
import { chanceOf } from '../parts/chance.tsx';
import { HistoryChart } from '../parts/history-chart.tsx';
import { MarketLinks } from '../parts/market-links.tsx';
import { Waiting } from '../parts/problem.tsx';

const READ_AGAIN_MS = 30_000;
const LEADING = 4;

export function EventView({ id }: { readonly id: string }) {
  const event = useLoaded(`event:${id}`, () => readEvent(id), READ_AGAIN_MS);
  useTokens((event.value?.markets ?? []).flatMap(({ tokens }) => tokens.slice(0, 1)));
  useEffect(() => {
    if (event.value !== undefined) document.title = event.value.title;
  }, [event.value?.title]);
  if (event.value === undefined) return <Waiting of={event} />;
  return <Event event={event.value} />;
}

function Event({ event }: { readonly event: MarketEvent }) {
  const { endDate, markets, rules, tags, title } = event;
  const volume = markets.reduce((sum, market) => sum + market.volume, 0);
  const isWhole = markets.length > 1 && markets.every(({ negRisk }) => negRisk);
  const percent = useMemo(() => computed(() => String(Math.round(100 * sumOf(markets)))), [event]);
  // Those that lead when the event is read: with each change of a price the chart would be another one.
  const leading = useMemo(() => untracked(() => leadingOf(markets)), [event]);
  return (
    <div class="event">
      <header>
        <h1>{title}</h1>
        <p class="muted">
          {volumeText(volume)} traded · ends {momentText(endDate)}
          {tags.length > 0 && ` · ${tags.join(', ')}`}
        </p>
      </header>
      <section class="card list" aria-label="Markets of the event">
        <MarketLinks markets={markets} isLarge />
        {isWhole && <p class="muted">One of these wins. The chances add up to {percent} %.</p>}
      </section>
      <section class="card history" aria-label="History of the chances">
        <HistoryChart
          lines={leading.map(({ question, tokens }) => ({
            tokenId: tokens[0] ?? '',
            name: question,
          }))}
        />
      </section>
      <section class="card rules">
        <h2>Rules</h2>
        <p>{rules === '' ? 'The event has no rules of its own.' : rules}</p>
      </section>
    </div>
  );
}

function sumOf(markets: readonly Market[]): number {
  return markets.reduce((sum, market) => sum + (chanceOf(market, 0) ?? 0), 0);
}

function leadingOf(markets: readonly Market[]): Market[] {
  const chances = new Map(markets.map((market) => [market, chanceOf(market, 0) ?? 0]));
  return [...markets].sort((a, b) => chances.get(b)! - chances.get(a)!).slice(0, LEADING);
}
