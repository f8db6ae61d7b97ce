/** Two simple paper traders: one that waits at the best prices, one that takes them. */
import type { MirroredBook } from '../../engine/paper/mirrored-book.ts';
import { PIPS_PER_UNIT } from '../../engine/tables/units.ts';
import { type PaperBook, SHARE } from './paper-book.ts';

export interface PaperTrader {
  /** After each message. */
  act(paper: PaperBook, time: number): void;
}

/** First funds of an account of these traders. */
export const CASH = 100_000 * SHARE;
export const SHARES = 20_000 * SHARE;
export const ACCOUNT = 1;

/** The best bid and ask of the source; undefined while there is no spread. */
function bestOf({
  source,
}: MirroredBook): { readonly bid: number; readonly ask: number } | undefined {
  const [bids, asks] = source.sides;
  if (bids.best === 0 || asks.best === 0 || source.crossed) return undefined;
  return { bid: bids.best, ask: PIPS_PER_UNIT - asks.best };
}

export function midOf(book: MirroredBook): number {
  const best = bestOf(book);
  return best === undefined ? 0.5 : (best.bid + best.ask) / 2 / PIPS_PER_UNIT;
}

interface Quote {
  readonly order: number;
  readonly pips: number;
}

/** Joins the best bid and the best ask with 100 shares each, and follows them; up to 1,000 shares either way. */
export class Maker implements PaperTrader {
  private readonly quotes: { buy: Quote | undefined; sell: Quote | undefined } = {
    buy: undefined,
    sell: undefined,
  };

  act(paper: PaperBook): void {
    const best = bestOf(paper.book);
    if (best === undefined) return;
    const held = (paper.sim.position(ACCOUNT, paper.token).total - SHARES) / SHARE;
    this.quote(paper, 'buy', held < 1_000 ? best.bid : 0);
    this.quote(paper, 'sell', held > -1_000 ? best.ask : 0);
  }

  /** 0 = no quote. */
  private quote({ sim, ticksPerUnit, token }: PaperBook, side: 'buy' | 'sell', pips: number): void {
    const quote = this.quotes[side];
    const isOpen = quote !== undefined && sim.remaining(quote.order) > 0;
    if (isOpen && quote.pips === pips) return;
    if (isOpen) sim.cancel(quote.order);
    this.quotes[side] = undefined;
    if (pips === 0) return;
    const ticks = (pips * ticksPerUnit) / PIPS_PER_UNIT;
    const order = { account: ACCOUNT, token, side, ticks, size: 100 * SHARE, postOnly: true };
    const placed = sim.place(order);
    if (placed.reason === 0) this.quotes[side] = { order: placed.order, pips };
  }
}

/** Each half minute takes up to 2,000 shares at the best price and one tick beyond, buying and selling in turn. */
export class Taker implements PaperTrader {
  private next = 0;
  private turns = 0;

  act({ book, sim, ticksPerUnit, token }: PaperBook, time: number): void {
    const best = bestOf(book);
    if (time < this.next || best === undefined) return;
    this.next = time + 30_000;
    const side = this.turns % 2 === 0 ? 'buy' : 'sell';
    this.turns += 1;
    const at = ((side === 'buy' ? best.ask : best.bid) * ticksPerUnit) / PIPS_PER_UNIT;
    const ticks = Math.min(ticksPerUnit - 1, Math.max(1, side === 'buy' ? at + 1 : at - 1));
    sim.place({ account: ACCOUNT, token, side, type: 'FAK', ticks, size: 2_000 * SHARE });
  }
}
