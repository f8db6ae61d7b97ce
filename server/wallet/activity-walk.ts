/**
 * Trades and other statement rows of a wallet, newest first, merged by time; of two at the same time the trade comes
 * first.
 *
 * Trades may leave the ring of fills during a pause. A match is shown as a whole or not at all, so `lost` names a
 * match that may have been read in part.
 *
 * Thread: I/O.
 */
import { nextIteration } from '../common/event-loop.ts';
import { Row, type TradesSelector } from '../market-data/trades-select.ts';
import type { LedgerWalk } from './ledger-activity.ts';

/** Fill sequences start at 0. */
export const NO_MATCH = -1;
/** Key of an entry that is no row of the answer; only its time is read. */
export const NO_ROW = -0.5;

export class ActivityWalk {
  lost = NO_MATCH;
  private readonly selector: TradesSelector;
  private readonly trades: Iterator<number, void> | undefined;
  private readonly entries: LedgerWalk | undefined;
  private trade: number | undefined;

  /**
   * @param trades keys of trades; undefined = none requested
   * @param entries undefined = none requested
   */
  constructor(
    selector: TradesSelector,
    trades: Iterator<number, void> | undefined,
    entries: LedgerWalk | undefined,
  ) {
    this.selector = selector;
    this.trades = trades;
    this.entries = entries;
    this.advance();
  }

  /** Reads the next row to ROW_DOUBLES numbers from `at` on. Returns its key; undefined at the end. */
  next(rows: Float64Array, at: number): number | undefined {
    this.readTrade(rows, at);
    const { entries, selector, trade } = this;
    const entry = entries?.head();
    if (entry !== undefined && (trade === undefined || entry.time > rows[at + Row.time]!)) {
      const row = entries!.take();
      row?.put(rows, at);
      rows[at + Row.time] = entry.time;
      return row?.key ?? NO_ROW;
    }
    if (trade === undefined) return undefined;
    rows[at + Row.collateral] = selector.movedCollateral(trade, rows, at);
    this.advance();
    return trade;
  }

  async pause(): Promise<void> {
    const { selector, trade } = this;
    const match = trade === undefined ? NO_MATCH : selector.matchOf(trade);
    await nextIteration();
    if (match !== NO_MATCH && match < selector.index.first) this.lose(match);
  }

  private readTrade(rows: Float64Array, at: number): void {
    const { selector, trade } = this;
    if (trade !== undefined && !selector.read(trade, rows, at)) this.lose(selector.matchOf(trade));
  }

  private lose(match: number): void {
    this.lost = match;
    this.trade = undefined;
  }

  private advance(): void {
    const next = this.trades?.next();
    this.trade = next === undefined || next.done === true ? undefined : next.value;
  }
}
