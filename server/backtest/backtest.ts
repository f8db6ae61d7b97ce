/**
 * Backtests: a strategy over a recording, on the engine, the fill model and the ledger of a node, without
 * sockets. The same recording, strategy and options give the same result. This is what the package exports as
 * `prediction-market-node/backtest`.
 *
 *   const result = await backtest('day.rec', { onBook(book, venue) { .. } }, { cash: 1_000 });
 *   writeFileSync('day.html', reportHtml([result]));
 *
 * Rules of fills and their limits: docs/guides/paper-and-backtests.md#backtests
 */
import { IMPACTS } from '../../engine/paper/mirrored-book.ts';
import { QUEUE_RULES } from '../../engine/paper/place.ts';
import { FEE_BPS_MAX, TAKER_DELAY_MAX } from '../../engine/tables/capacities.ts';
import { MICRO } from '../../engine/tables/units.ts';
import { Exchange } from './exchange.ts';
import {
  isLatency,
  LATENCY_RULE,
  type LatencyChoice,
  latenciesOf,
  MEASURED,
  shortestLatency,
} from './latency.ts';
import { MeasuredLatency } from './measured-latency.ts';
import type { ParameterValues } from './parameters.ts';
import { type RecordingSource, recordedEntries } from './recording.ts';
import { type BacktestResult, RECORDED, type RunSettings } from './result.ts';
import { Run } from './run.ts';
import { Source } from './source.ts';
import { type StrategySource, strategyOf } from './strategy-source.ts';
import { StrategyVenue } from './venue.ts';

export { COMPARED } from './compared.ts';
export { reportHtml } from './html.ts';
export type { ParameterValue, ParameterValues } from './parameters.ts';
export type { RecordingSource } from './recording.ts';
export type * from './result.ts';
export type * from './strategy.ts';
export { NoStrategy, StrategyError } from './strategy-error.ts';
export type { StrategySource } from './strategy-source.ts';
export { equityCsv, fillsCsv, tablesOf } from './tables.ts';

export interface BacktestOptions {
  /** Name of the run. A name of the strategy comes first. */
  readonly name?: string;
  /** Units of collateral at the beginning; 1000 if absent. */
  readonly cash?: number;
  /** Latency of orders and cancels; 0 if absent. */
  readonly latencyMs?: LatencyChoice;
  /** Latency of everything that the strategy sees: books, trades, own orders and fills; 0 if absent. */
  readonly feedLatencyMs?: LatencyChoice;
  /** Path of a CSV file of measured latencies, for that of the two that is absent. */
  readonly latencyFile?: string;
  /** Whole number from which drawn latencies follow; 1 if absent. */
  readonly seed?: number;
  /** Milliseconds that an order waits which would match at once, in place of the recorded taker delays. */
  readonly takerDelayMs?: number;
  /**
   * Time at which liquidity that the strategy took returns: with the next change of the level, or with the next
   * message.
   */
  readonly impact?: RunSettings['impact'];
  /** Rule that moves a resting order forward, beside trades. */
  readonly queue?: RunSettings['queue'];
  /**
   * Base fee of takers in basis points, in place of the recorded fee schedules, which hold where it is absent
   * (docs/protocol.md#fees).
   */
  readonly feeBps?: number;
  /** First and last time of the strategy. The books are those of the recording from its beginning. */
  readonly from?: number | Date;
  readonly to?: number | Date;
  /** Values for the function that makes the strategy, which is called without any if absent. */
  readonly parameters?: ParameterValues;
}

const NAME = 'strategy';
const CASH = 1_000;
const CASH_MAX = 1e9;
const SEED = 1;
const TAKER_DELAY_MS_MAX = 1_000 * TAKER_DELAY_MAX;

/**
 * Runs a strategy over a recording. A function is called for a new strategy, so that runs share nothing. Rejects with a
 * StrategyError for what the strategy throws, and with a NoStrategy where it is none.
 */
export async function backtest(
  recording: RecordingSource,
  strategy: StrategySource,
  options: BacktestOptions = {},
): Promise<BacktestResult> {
  const settings = settingsOf(options);
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = timesOf(options);
  const { parameters } = options;
  const own = await strategyOf(strategy, options.name ?? NAME, parameters);
  const { batches, decreases, inferred } = await recordedEntries(recording);
  const exchange = new Exchange(settings.cash * MICRO);
  const { latencyFile } = options;
  const measured = latencyFile === undefined ? undefined : new MeasuredLatency(latencyFile);
  const venue = new StrategyVenue(exchange, latenciesOf(settings, measured));
  const source = new Source(exchange, venue, settings, inferred);
  const run = new Run(own, own.name ?? options.name ?? NAME, settings, {
    exchange,
    source,
    venue,
  });
  for await (const entries of batches) {
    for (const entry of entries) {
      if (entry.at > to)
        return { ...(await run.end(decreases().count)), parameters: parameters ?? {} };
      const isMessage = entry.kind === 'read' || entry.kind === 'message';
      if (isMessage && entry.at >= from) run.begin(entry.at);
      run.take(entry);
    }
  }
  return { ...(await run.end(decreases().count)), parameters: parameters ?? {} };
}

interface Times {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

function timesOf(options: BacktestOptions): Times {
  const times = Object.entries({ from: options.from, to: options.to }).flatMap(([name, time]) => {
    if (time === undefined) return [];
    const ms = Number(time);
    if (Number.isNaN(ms)) throw new RangeError(`${name} must be a time, not ${time}`);
    return [[name, ms] as const];
  });
  const { from, to }: Times = Object.fromEntries(times);
  if (from !== undefined && to !== undefined && from > to)
    throw new RangeError(`from must be at or before to, not ${from} with to ${to}`);
  return { from, to };
}

function settingsOf(options: BacktestOptions): RunSettings {
  const unnamed = options.latencyFile === undefined ? 0 : MEASURED;
  const {
    cash = CASH,
    feeBps = RECORDED,
    feedLatencyMs = unnamed,
    impact = 'keep',
    latencyMs = unnamed,
    queue = 'pessimistic',
    seed = SEED,
    takerDelayMs = RECORDED,
  } = options;
  const check = (isRight: boolean, text: string): void => {
    if (!isRight) throw new RangeError(text);
  };
  check(cash > 0 && cash <= CASH_MAX, `cash must be above 0 and at most ${CASH_MAX}, not ${cash}`);
  const latencies = { latencyMs, feedLatencyMs };
  for (const [name, choice] of Object.entries(latencies)) {
    const isRight = choice === unnamed || isLatency(shortestLatency(choice));
    check(isRight, `${name} must be ${LATENCY_RULE}, not ${choice}`);
  }
  check(Number.isSafeInteger(seed), `seed must be a whole number, not ${seed}`);
  const isDelay =
    takerDelayMs === RECORDED ||
    (Number.isInteger(takerDelayMs) && takerDelayMs >= 0 && takerDelayMs <= TAKER_DELAY_MS_MAX);
  check(
    isDelay,
    `takerDelayMs must be a whole number from 0 to ${TAKER_DELAY_MS_MAX}, not ${takerDelayMs}`,
  );
  const isFee =
    feeBps === RECORDED || (Number.isInteger(feeBps) && feeBps >= 0 && feeBps <= FEE_BPS_MAX);
  check(isFee, `feeBps must be a whole number from 0 to ${FEE_BPS_MAX}, not ${feeBps}`);
  check(IMPACTS.includes(impact), `impact must be ${IMPACTS.join(' or ')}, not ${impact}`);
  check(
    QUEUE_RULES.includes(queue),
    `queue must be one of ${QUEUE_RULES.join(', ')}, not ${queue}`,
  );
  return {
    cash,
    feeBps,
    feedLatencyMs: shortestLatency(feedLatencyMs),
    impact,
    latencyMs: shortestLatency(latencyMs),
    queue,
    seed,
    takerDelayMs,
  };
}
