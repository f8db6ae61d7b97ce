/** A market: price, history, depth, book and trades of one outcome, and what an operator does with it. */
import { useEffect } from 'preact/hooks';
import { ApiError } from '../../../../client/client.ts';
import { decimalsOf, momentText, priceText, volumeText } from '../../app/format.ts';
import { onMarketChange, quoteOf, useTokens } from '../../app/node/follow.ts';
import { useLoaded } from '../../app/node/load.ts';
import { type Market, type MarketState, readMarket } from '../../app/node/markets.ts';
import { notify } from '../../app/notices.ts';
import { chanceOf } from '../../app/parts/chance.tsx';
import { Choices } from '../../app/parts/choices.tsx';
import { DepthChart } from '../../app/parts/depth-chart.tsx';
import { Fact } from '../../app/parts/fact.tsx';
import { HistoryChart } from '../../app/parts/history-chart.tsx';
import { Ladder } from '../../app/parts/ladder.tsx';
import { MarketOutcome } from '../../app/parts/market-outcome.tsx';
import { Waiting } from '../../app/parts/problem.tsx';
import { Tape } from '../../app/parts/tape.tsx';
import { textOf } from '../../app/refusal-words.ts';
import { timeInput } from '../node/form.ts';
import { call, may, role } from '../node/operator.ts';
import { MarketLiquidity } from '../parts/liquidity.tsx';
import { OperationForm } from '../parts/operation-form.tsx';
import { MarketPreview } from '../parts/preview.tsx';

const READ_AGAIN_MS = 3_000;

/** Null where there is no such market. */
export function readNamed(id: string): Promise<Market | null> {
  return readMarket(id).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  });
}

interface Named {
  readonly id: string;
  /** Index. */
  readonly outcome: number;
}

export function MarketPanel({ id, outcome }: Named) {
  const market = useLoaded(`market:${id}`, () => readNamed(id), READ_AGAIN_MS);
  useEffect(() => onMarketChange(market.reload), []);
  useTokens(market.value?.tokens ?? []);
  if (market.value === undefined) return <Waiting of={market} />;
  if (market.value === null) return <h1 id="question">There is no such market</h1>;
  const last = market.value.tokens.length - 1;
  return <Panel market={market.value} outcome={Math.min(outcome, last)} reload={market.reload} />;
}

interface Shown {
  readonly market: Market;
  readonly outcome: number;
  reload(): void;
}

function Panel({ market, outcome, reload }: Shown) {
  const token = market.tokens[outcome] ?? '';
  const decimals = decimalsOf(market.tick);
  const name = market.outcomes[outcome] ?? '';
  const { ask, bid, last } = quoteOf(token).value;
  const spread = ask === undefined || bid === undefined ? undefined : ask - bid;
  const { resolution } = market;
  const price = resolution === undefined ? `${priceText(last, decimals)} ${name}` : 'Resolved';
  const worth = (i: number): string =>
    resolution === undefined
      ? priceText(chanceOf(market, i), decimals)
      : `pays ${resolution.payouts[i]}`;
  useEffect(() => {
    document.title = `${price} · ${market.question}`;
  }, [price, market.question]);
  return (
    <div class="market-panel">
      <header class="market-head">
        <p class="muted">
          <a href="#markets">All markets</a> · {market.eventTitle}
        </p>
        <h1 id="question">{market.question}</h1>
        <MarketOutcome market={market} />
        <div id="outcomes">
          <Choices
            legend="Outcome"
            name="outcome"
            value={outcome}
            options={market.outcomes.map((text, value) => ({
              value,
              text: `${text} ${worth(value)}`,
            }))}
            choose={(value) => {
              location.hash = `${market.id}/${value}`;
            }}
          />
        </div>
        <dl class="facts tabular">
          <Fact name="Last" value={priceText(last, decimals)} />
          <Fact name="Bid" value={priceText(bid, decimals)} />
          <Fact name="Ask" value={priceText(ask, decimals)} />
          <Fact name="Spread" value={priceText(spread, decimals)} />
          <Fact name="24 h volume" value={volumeText(market.volumeDay)} />
          <Fact name="All volume" value={volumeText(market.volume)} />
          <Fact name="Ends" value={momentText(market.endDate)} />
        </dl>
      </header>
      <Operate market={market} reload={reload} />
      <section class="card history" aria-label={`Price history of ${name}`}>
        <HistoryChart lines={[{ tokenId: token, name }]} decimals={decimals} />
      </section>
      <section class="card book" aria-label={`Book of ${name}`}>
        <h2>Book of {name}</h2>
        <Ladder tokenId={token} decimals={decimals} />
      </section>
      <section class="card depth" aria-label={`Depth of ${name}`}>
        <h2>Depth</h2>
        <DepthChart tokenId={token} decimals={decimals} />
      </section>
      <section class="card tape" aria-label={`Trades of ${name}`}>
        <h2>Trades</h2>
        <Tape market={market} outcome={outcome} decimals={decimals} />
      </section>
      <MarketLiquidity market={market} />
      <Edit market={market} reload={reload} />
    </div>
  );
}

/** Changes of a market, with the states in which each makes sense. */
const ACTIONS: readonly Action[] = [
  {
    key: 'POST /admin/markets/halt',
    text: 'Halt',
    done: 'takes no orders now',
    of: ['open', 'ended'],
  },
  { key: 'POST /admin/markets/resume', text: 'Resume', done: 'takes orders again', of: ['paused'] },
  {
    key: 'POST /admin/markets/close',
    text: 'Close for good',
    done: 'has ended',
    of: ['open', 'ended', 'paused'],
  },
];

interface Action {
  readonly key: string;
  readonly text: string;
  readonly done: string;
  readonly of: readonly MarketState[];
}

type Operated = Pick<Shown, 'market' | 'reload'>;

/** The state of a market can be changed here; its payout has a view of its own. */
function Operate({ market, reload }: Operated) {
  if (role.value === undefined) {
    return (
      <p class="muted">
        <a href="#create">Sign in</a> to halt, edit or resolve it.
      </p>
    );
  }
  if (market.resolution !== undefined) return null;
  const act = ({ done, key, text }: Action): void => {
    const isFinal = key === 'POST /admin/markets/close';
    if (isFinal && !confirm(`${text}: ${market.question}\nIts open orders end.`)) return;
    call(key, { condition: market.conditionId }).then(
      () => {
        notify('good', `${market.question}: ${done}`);
        reload();
      },
      (error: unknown) => notify('warning', textOf(error)),
    );
  };
  const isShown = ({ key, of }: Action): boolean => may(key) && of.includes(market.state);
  return (
    <fieldset class="row">
      <legend class="hidden">Operate the market</legend>
      {ACTIONS.filter(isShown).map((action) => (
        <button key={action.key} type="button" class="plain" onClick={() => act(action)}>
          {action.text}
        </button>
      ))}
      <a class="plain" href={`#resolve/${market.id}`}>
        Resolve…
      </a>
    </fieldset>
  );
}

function Edit({ market, reload }: Operated) {
  if (!may('POST /admin/markets/edit') || market.state === 'closed') return null;
  const { conditionId, endDate, outcomes, question, rules } = market;
  return (
    <details class="edit">
      <summary>Edit the market</summary>
      <OperationForm
        of="POST /admin/markets/edit"
        title="Edit the market"
        fixed={{ condition: conditionId }}
        first={{ question, description: rules, endDate: timeInput(endDate) }}
        main={['question', 'description', 'endDate']}
        preview={(input) => <MarketPreview input={{ outcomes, ...input }} />}
        done={reload}
      />
    </details>
  );
}
