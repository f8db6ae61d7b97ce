/** The chance of an outcome, and how its market ended. */
import { computed } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { chanceText, momentText } from '../format.ts';
import { type Quote, quoteOf } from '../node/follow.ts';
import { isVoid, type Market, winnerOf } from '../node/markets.ts';

const NARROW = 0.1;

/** Result of a market or its proposed payout, with the time; nothing before. */
export function Ended({ market }: { readonly market: Market }) {
  const { proposed, resolution } = market;
  const payout = resolution ?? proposed;
  if (payout === undefined) return null;
  const word = resolution === undefined ? 'Proposed' : 'Resolved';
  return (
    <span class="ended">
      <span class="badge">
        {word}: {winnerOf(market, payout) ?? (isVoid(payout) ? 'void' : 'by weights')}
      </span>
      <small class="muted">
        {resolution === undefined && 'final '}
        {momentText(payout.at)}
      </small>
    </span>
  );
}

/** The chance of an outcome: middle of its book, else its last price. */
export function Chance({ market, outcome }: { readonly market: Market; readonly outcome: number }) {
  const text = useMemo(
    () => computed(() => chanceText(chanceOf(market, outcome))),
    [market, outcome],
  );
  return <strong class="chance cell number tabular">{text}</strong>;
}

/** Tokens whose books say the chances of all outcomes. */
export function chanceTokens({ tokens }: Market): readonly string[] {
  return tokens.length > 2 ? tokens : tokens.slice(0, 1);
}

export function chanceOf({ chances, tokens }: Market, outcome: number): number | undefined {
  // A market of two outcomes follows the first one; the other is the rest.
  const isRest = tokens.length === 2 && outcome === 1;
  const quote = quoteOf(tokens[isRest ? 0 : outcome] ?? '').value;
  const own = middleOf(quote);
  if (own === undefined) return chances[outcome];
  if (!isRest) return own;
  // The percents of the two add up.
  const percent = Math.round(own * 100);
  return percent > 0 && percent < 100 ? 1 - percent / 100 : 1 - own;
}

/** Middle of a narrow book, else the last price. */
function middleOf({ ask, bid, last }: Quote): number | undefined {
  if (bid === undefined || ask === undefined) return last;
  const middle = (bid + ask) / 2;
  return ask - bid <= NARROW ? middle : (last ?? middle);
}

/** Price that the chance of an outcome is. */
export function sourceText({ ask, bid, last }: Quote): string {
  const isTwoSided = bid !== undefined && ask !== undefined;
  const isMiddle = isTwoSided && (ask - bid <= NARROW || last === undefined);
  if (isMiddle) return 'midway between the best two offers';
  return last === undefined ? 'as nobody offers or has traded yet' : 'the price of the last trade';
}
