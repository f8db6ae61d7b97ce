/**
 * Resolutions of the source: a market that has resolved there is resolved here with the same payout.
 *
 * Thread: the I/O thread.
 */
import type { Payout } from '../../storage/catalog/payout.ts';
import type { SourceApi, SourceMarket } from './source-api.ts';

export interface SettlementParts {
  readonly api: Pick<SourceApi, 'marketsBy'>;
  readonly aligned: (market: SourceMarket) => SourceMarket | undefined;
  /** Returns true for a market that is resolved here, or unknown. */
  readonly isSettled: (condition: string) => boolean;
  /** Returns true while a proposal of an operator stands. It precedes the source. */
  readonly isProposed: (condition: string) => boolean;
  readonly unsettled: () => readonly string[];
  /** The source closed the market without a payout. */
  readonly onClosed: (market: SourceMarket) => void;
  /** Resolves the market as an operator would. Resolves with the reason of a failure. */
  readonly resolve: (market: SourceMarket, payout: Payout) => Promise<string | undefined>;
  readonly log: (level: 'info' | 'warn', line: string) => void;
}

export class Settlements {
  private readonly parts: SettlementParts;

  constructor(parts: SettlementParts) {
    this.parts = parts;
  }

  /**
   * Checks these markets and all that ended here.
   * @returns the ones of `conditions` that need no more
   */
  async settle(conditions: readonly string[]): Promise<string[]> {
    const { aligned, api, isProposed, isSettled, log, onClosed, resolve, unsettled } = this.parts;
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
