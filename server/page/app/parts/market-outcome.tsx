/** Result of a market, its proposed payout, or the reason for which it takes no orders. */
import { momentText } from '../format.ts';
import { isVoid, type Market, type Resolution, winnerOf } from '../node/markets.ts';

export const STATES = {
  open: '',
  paused: 'Paused: no orders are taken',
  ended: 'The end date is past: orders are taken until the operator closes the market',
  closed: 'Closed',
};

export function MarketOutcome({ market }: { readonly market: Market }) {
  const { proposed, resolution, state } = market;
  if (resolution !== undefined) {
    return (
      <p class="resolution">
        <strong>{payoutText(market, resolution, 'Resolved')}</strong> {momentText(resolution.at)}
        <Note of={resolution} />
      </p>
    );
  }
  if (proposed !== undefined) {
    return (
      <p class="resolution">
        <strong>{payoutText(market, proposed, 'Proposed')}</strong>, final {momentText(proposed.at)}{' '}
        unless the operator withdraws it. No orders are taken meanwhile.
        <Note of={proposed} />
      </p>
    );
  }
  return STATES[state] === '' ? null : <p class="badge">{STATES[state]}</p>;
}

function Note({ of: { note } }: { readonly of: Resolution }) {
  return note === '' ? null : <span class="resolution-note">{note}</span>;
}

function payoutText(market: Market, payout: Resolution, word: string): string {
  const winner = winnerOf(market, payout);
  if (winner !== undefined) return `${word}: ${winner}`;
  const pays = market.outcomes.map((outcome, i) => `${outcome} ${payout.payouts[i] ?? 0}`);
  return `${word}: ${isVoid(payout) ? 'void, ' : ''}a share pays ${pays.join(', ')}`;
}
