/**
 * Brings resolutions of the source into the ledger of this node: a market that the source says has resolved is
 * resolved here with the same payout, so that positions pay.
 *
 * Thread: the I/O thread.
 */
import type { Payout } from '../../storage/catalog/payout.ts';
import type { SourceApi, SourceMarket } from './source-api.ts';

export interface SettlementParts {
  readonly api: Pick<SourceApi, 'marketsBy'>;
  /** The market in the order of the engine; undefined where it contradicts what is registered. */
  readonly aligned: (market: SourceMarket) => SourceMarket | undefined;
  /** Whether nothing is left to do: it has resolved here, or is no market of this node. */
  readonly isSettled: (condition: string) => boolean;
  /** Whether an operator has proposed what it pays here: that stands, or is withdrawn, before the source counts. */
  readonly isProposed: (condition: string) => boolean;
  /** Markets that have ended here, that somebody has shares of, and that have not resolved. */
  readonly unsettled: () => readonly string[];
  /** The source has closed it, and has not said what it pays. */
  readonly onClosed: (market: SourceMarket) => void;
  /** Resolves the market by the operation of an operator; resolves with why it did not. */
  readonly resolve: (market: SourceMarket, payout: Payout) => Promise<string | undefined>;
  readonly log: (level: 'info' | 'warn', line: string) => void;
}

export class Settlements {
  private readonly o: SettlementParts;

  constructor(parts: SettlementParts) {
    this.o = parts;
  }

  /**
   * Looks at these markets and at all that have ended here.
   * @returns those of them that need no more
   */
  async settle(conditions: readonly string[]): Promise<string[]> {
    const { aligned, api, isProposed, isSettled, log, onClosed, resolve, unsettled } = this.o;
    const looked = [...new Set([...conditions, ...unsettled()])];
    const open = looked.filter((condition) => !isSettled(condition));
    for (const found of await api.marketsBy('condition_ids', open, true)) {
      const market = aligned(found);
      if (market === undefined) continue;
      const { payout } = market;
      if (payout === undefined) onClosed(market);
      if (payout === undefined || isSettled(market.condition)) continue;
      if (isProposed(market.condition)) continue;
      const problem = await resolve(market, payout);
      const shown = payout === 'void' ? 'is void' : `pays ${payout.join(':')}`;
      if (problem === undefined) log('info', `mirror: ${market.condition} ${shown}`);
      else
        log('warn', `mirror: ${market.condition} ${shown} at the source, and not here: ${problem}`);
    }
    return looked.filter(isSettled);
  }
}
