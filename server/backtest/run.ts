/**
 * One run of a strategy over a recording. Merges the lines of the recording, orders on their way, what is due at the
 * exchange, and timers by time, calls the strategy, and counts. At one time lines come first, then orders and timers in
 * the order of their requests. A latency of the feed delays the strategy and not the exchange: each change is applied
 * when it happens, and every timer before the time at which the strategy sees the change runs before it.
 *
 * Thread: the caller's. Functions of a strategy run to their end.
 */
import { MICRO, mulDivFloor, PIPS_PER_UNIT } from '../../engine/tables/units.ts';
import type { ReadEntry } from '../../storage/recordings/recording.ts';
import { EquityCurve } from './equity.ts';
import type { Exchange } from './exchange.ts';
import { dayOf, equityOf, figuresOf, fillOf, marketOf } from './figures.ts';
import { type FillMark, FillMarks } from './fill-marks.ts';
import type { TradedMarket } from './markets.ts';
import type { BacktestResult, RunSettings } from './result.ts';
import type { Heard, Source } from './source.ts';
import type { Strategy } from './strategy.ts';
import { StrategyError } from './strategy-error.ts';
import { Tallies } from './tallies.ts';
import type { TradeTally } from './tally.ts';
import type { NotedFill, OrderNote, StrategyVenue } from './venue.ts';

/** Bound for a strategy that answers every answer with an order. */
const ROUNDS_MAX = 100_000;
/** Bound of orders and timers between two entries, so that a pause of years is not walked by the millisecond. */
const PAUSE_STEPS_MAX = 1_000_000;
/** Milliseconds that the end of a run waits for open promises of the strategy. */
const SETTLE_MS_MAX = 10_000;

export class Run {
  private readonly strategy: Strategy;
  private readonly name: string;
  private readonly settings: RunSettings;
  private readonly exchange: Exchange;
  private readonly venue: StrategyVenue;
  private readonly source: Source;
  private readonly curve: EquityCurve;
  private readonly fills: NotedFill[] = [];
  private readonly tallies = new Tallies();
  private readonly marks = new FillMarks();
  private positions = 0;
  private inventoryMax = 0;
  private messages = 0;
  private pausesCut = 0;
  private from: number | undefined;
  /** Running function of the strategy; '' = none. */
  private calling = '';
  private unsettled = 0;
  private onSettled = (): void => undefined;
  private rejection: StrategyError | undefined;

  constructor(
    strategy: Strategy,
    name: string,
    settings: RunSettings,
    { exchange, source, venue }: { exchange: Exchange; source: Source; venue: StrategyVenue },
  ) {
    this.strategy = strategy;
    this.name = name;
    this.settings = settings;
    this.exchange = exchange;
    this.venue = venue;
    this.source = source;
    this.curve = new EquityCurve(settings.cash * MICRO);
  }

  begin(time: number): void {
    if (this.from !== undefined) return;
    this.guarded(() => {
      const { everyMs, onTime } = this.strategy;
      this.exchange.at(time);
      this.from = this.exchange.now;
      this.curve.add(this.from, this.venue.cashTotal, 0);
      if (everyMs !== undefined && onTime !== undefined) this.tick(everyMs);
      this.calling = 'onStart';
      this.returned(this.strategy.onStart?.(this.venue));
      this.drain();
      for (const market of this.venue.markets) this.callMarket(market);
    });
  }

  take(entry: ReadEntry): void {
    if (this.rejection !== undefined) throw this.rejection;
    try {
      this.advance(entry.at);
      this.calling = '';
      this.marks.pass(entry.at);
      const heard = this.source.take(entry);
      this.venue.settle();
      if (this.from === undefined) return;
      this.messages += 1;
      this.curve.pass(this.exchange.now);
      for (const each of heard) this.hear(each);
      this.drain();
      for (const each of heard) if (each.kind === 'book') this.callBook(each.market);
    } catch (error) {
      throw this.located(error);
    }
  }

  async end(timesDecreasing: number): Promise<Omit<BacktestResult, 'parameters'>> {
    const { venue } = this;
    this.guarded(() => {
      this.calling = 'onEnd';
      this.venue.isClosed = true;
      if (this.from !== undefined) this.returned(this.strategy.onEnd?.(this.venue));
    });
    await this.settled();
    venue.audit();
    const to = this.from === undefined ? undefined : this.exchange.now;
    if (to !== undefined) this.curve.add(to, this.venue.cashTotal, this.positions);
    this.curve.end();
    for (const market of venue.markets) {
      this.noteBest(market, undefined);
      market.equity.end();
    }
    const { curve, fills, inventoryMax, settings, tallies } = this;
    return {
      name: this.name,
      from: this.from,
      to,
      messages: this.messages,
      settings,
      figures: figuresOf(venue, settings.cash, { curve, inventoryMax, tally: tallies.total }),
      equity: equityOf(curve),
      days: curve.days.map((day) => dayOf(day, tallies)),
      fills: fills.map(fillOf),
      markets: venue.markets
        .filter(({ tally }) => tally.fills > 0)
        .map((market) => marketOf(market, curve.days.length + curve.quietDays)),
      marketsSeen: venue.markets.length,
      levelsRefused: this.source.refused,
      messagesDamaged: this.source.damaged,
      timesDecreasing,
      pausesCut: this.pausesCut,
    };
  }

  /** Runs what is due before an entry. After PAUSE_STEPS_MAX steps the rest runs at its time. */
  private advance(at: number): void {
    const { exchange, venue } = this;
    const { arrivals, timers } = venue;
    const seen = venue.seenAt(at);
    /** Delay after which expiries and delayed orders are seen: that of the entry. */
    const lag = seen - at;
    const first = Math.min(timers.next, arrivals.next);
    for (let steps = 0; ; steps++) {
      const timer = timers.first;
      const arrival = arrivals.first;
      const isArrival = arrival !== undefined && arrival.time < at;
      const next = isArrival ? arrival.time : at;
      const nextSeen = isArrival ? Math.max(arrival.seen, venue.now) : seen;
      const { due } = exchange;
      const isTimer =
        timer !== undefined &&
        (timer.time < nextSeen ||
          (timer.time === nextSeen && isArrival && timer.turn < arrival.turn));
      if (due < next && !(isTimer && timer.time < due + lag)) {
        this.calling = '';
        exchange.at(due);
        venue.moveTo(due + lag);
        venue.settle();
      } else if (isTimer || isArrival) {
        if (steps === PAUSE_STEPS_MAX) {
          if (Math.min(timers.next, arrivals.next) === first)
            throw new Error('the strategy calls itself without end');
          this.pausesCut += 1;
        }
        const { act, time } = isTimer ? timers.take() : arrivals.take();
        this.calling = 'after';
        const now = steps < PAUSE_STEPS_MAX ? time : at;
        // Under a latency of the feed a timer may be later than what happens next at the exchange.
        if (!isTimer || !venue.hasFeedLatency) exchange.at(now);
        venue.moveTo(isTimer ? now : Math.max(nextSeen, now));
        this.returned(act());
      } else break;
      this.drain();
    }
    exchange.at(at);
    venue.moveTo(seen);
  }

  private tick(everyMs: number): void {
    this.venue.after(everyMs, () => {
      this.calling = 'onTime';
      this.returned(this.strategy.onTime?.(this.venue));
      this.tick(everyMs);
    });
  }

  private hear(heard: Heard): void {
    const { strategy, venue } = this;
    if (heard.kind === 'market') this.callMarket(heard.market);
    else if (heard.kind === 'trade') {
      this.calling = 'onTrade';
      this.returned(strategy.onTrade?.(heard.trade, venue));
    } else this.mark(heard.market);
  }

  private callMarket(market: TradedMarket): void {
    this.calling = 'onMarket';
    this.returned(this.strategy.onMarket?.(market, this.venue));
    this.drain();
  }

  private callBook(market: TradedMarket): void {
    this.calling = 'onBook';
    this.returned(this.strategy.onBook?.(market.books[0], this.venue));
    this.drain();
  }

  private drain(): void {
    const { venue } = this;
    for (let rounds = 0; venue.notes.length > 0; rounds++) {
      if (rounds === ROUNDS_MAX) throw new Error('the strategy answers without end');
      const { notes } = venue;
      venue.notes = [];
      for (const note of notes) {
        if (note.kind === 'fill') this.count(note.fill);
        else if (note.kind === 'order') {
          this.countOrder(note);
          this.calling = 'onOrder';
          this.returned(this.strategy.onOrder?.(note.order, venue));
        } else {
          this.mark(note.market);
          if (note.kind === 'converted') continue;
          this.noteOutcome(note.market);
          this.calling = 'onResolved';
          this.returned(this.strategy.onResolved?.(note.market, venue));
        }
      }
    }
  }

  private count(fill: NotedFill): void {
    const { market, pips, shares } = fill;
    this.fills.push(fill);
    const tallies = this.tallies.of(market, fill.time);
    for (const tally of tallies) {
      tally.fills += 1;
      if (fill.role === 'maker') tally.makerFills += 1;
      tally.turnover += mulDivFloor(shares, pips, PIPS_PER_UNIT);
      tally.fees += fill.feeMicro;
      tally.filled += shares;
    }
    if (!Number.isNaN(market.mids)) this.marks.add(markOf(fill, tallies));
    this.mark(market);
    this.calling = 'onFill';
    this.returned(this.strategy.onFill?.(fill, this.venue));
  }

  private countOrder({ isAccepted, market, order }: OrderNote): void {
    if (market === undefined) return;
    if (isAccepted) {
      const time = this.exchange.now;
      for (const tally of this.tallies.of(market, time)) tally.ordered += order.wanted;
      market.bestSince ??= time;
    }
    this.noteBest(market, market.countAtBest());
  }

  /**
   * Counts the time until now, and the sides of a market at whose best price own orders stand from now on; undefined =
   * the market has ended.
   */
  private noteBest(market: TradedMarket, sides: number | undefined): void {
    const { bestSince, sidesAtBest } = market;
    if (bestSince === undefined || sides === sidesAtBest) return;
    const time = this.exchange.now;
    this.tallies.span(market, bestSince, time, sidesAtBest);
    market.sidesAtBest = sides ?? 0;
    market.bestSince = sides === undefined ? undefined : time;
  }

  private noteOutcome(market: TradedMarket): void {
    this.noteBest(market, undefined);
    const [first] = market.payout ?? [];
    if (first === 0 || first === 1) this.marks.decide(market, first);
  }

  private mark(market: TradedMarket): void {
    this.noteBest(market, market.countAtBest());
    const time = this.exchange.now;
    const { cashTotal } = this.venue;
    const value = market.valueNow();
    const profit = market.flow + value;
    if (profit !== market.equity.equity) market.equity.record(time, profit, value);
    market.sharesMax = Math.max(market.sharesMax, Math.abs(market.holding.net));
    market.series.add(time, market.mids, market.holding.net);
    if (value === market.value && cashTotal === this.curve.cash) return;
    this.positions += value - market.value;
    market.value = value;
    this.inventoryMax = Math.max(this.inventoryMax, this.positions);
    this.curve.add(time, cashTotal, this.positions);
  }

  /** Tracks the result of a function of the strategy. A rejected promise ends the run. */
  private returned(result: unknown): void {
    if (!isPromise(result)) return;
    const { calling } = this;
    const at = this.exchange.now;
    this.unsettled += 1;
    const settle = (): void => {
      this.unsettled -= 1;
      if (this.unsettled === 0) this.onSettled();
    };
    result.then(settle, (error) => {
      this.rejection ??= this.errorOf(calling, at, error);
      settle();
    });
  }

  /** Resolves when no promise of the strategy is open, or after SETTLE_MS_MAX; rejects when one was rejected. */
  private async settled(): Promise<void> {
    if (this.unsettled > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, SETTLE_MS_MAX);
        this.onSettled = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    if (this.rejection !== undefined) throw this.rejection;
  }

  private guarded(act: () => void): void {
    this.calling = '';
    try {
      act();
    } catch (error) {
      throw this.located(error);
    }
  }

  private located(error: unknown): unknown {
    return this.calling === '' ? error : this.errorOf(this.calling, this.exchange.now, error);
  }

  private errorOf(calling: string, time: number, error: unknown): StrategyError {
    const at = new Date(time).toISOString();
    const what = error instanceof Error ? error.message : String(error);
    return new StrategyError(`${this.name}: ${calling} at ${at}: ${what}`, { cause: error });
  }
}

function markOf(fill: NotedFill, tallies: readonly TradeTally[]): FillMark {
  const { market, order, outcome, pips, shares, side, time } = fill;
  const probability = order.request.probability ?? pips / PIPS_PER_UNIT;
  return {
    time,
    market,
    direction: (side === 'BUY') === (outcome === 0) ? 1 : -1,
    size: shares,
    probability: outcome === 0 ? probability : 1 - probability,
    mids: market.mids,
    tallies,
  };
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'then' in value &&
    typeof value.then === 'function'
  );
}
