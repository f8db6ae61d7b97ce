/**
 * Position of a strategy in one market, in shares of its first outcome. A share of the second counts as one sold,
 * because both together are cash. Average cost and realized profit. Formulas: docs/guides/paper-and-backtests.md#figures-of-a-backtest
 */
export class Holding {
  /** Micro-shares of the first outcome less those of the second. */
  net = 0;
  /** Average price of `net`, after fees. */
  private average = 0;
  closings = 0;
  hits = 0;

  /**
   * @param shares micro-shares of the first outcome; negative = less of it, or more of the second
   * @param price of the first outcome, after fees
   * @returns realized profit in micro-units; undefined = nothing was closed
   */
  take(shares: number, price: number): number | undefined {
    if (shares === 0) return undefined;
    const before = this.net;
    const sign = Math.sign(before);
    this.net = before + shares;
    if (sign === 0 || sign === Math.sign(shares)) {
      const cost = Math.abs(before) * this.average + Math.abs(shares) * price;
      this.average = cost / Math.abs(this.net);
      return undefined;
    }
    const closed = Math.min(Math.abs(before), Math.abs(shares));
    const brought = closed * (price - this.average) * sign;
    // What is beyond zero was opened by this fill.
    if (Math.sign(this.net) === -sign) this.average = price;
    this.closings += 1;
    if (brought > 0) this.hits += 1;
    return brought;
  }
}
