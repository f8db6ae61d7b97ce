/**
 * Reads the payout of a market from an operator's input: weights in the order of the engine, which is also
 * the order of answers.
 *
 * Thread: I/O.
 */
import { tokenIdAt } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import { wordsToDecimal } from '../common/uint256.ts';
import { tokensOfMarket } from '../market-data/find.ts';
import { type OperationRefused, refusedField } from './operation-row.ts';

export interface PayoutInput {
  readonly payout?: readonly number[];
  readonly payouts?: Readonly<Record<string, number>>;
}

/** Outcomes of a market. `names` is empty where the catalog does not list it. */
export interface Outcomes {
  readonly tokenIds: readonly string[];
  readonly names: readonly string[];
}

export function outcomesOf(
  t: Tables,
  market: MarketRow,
  names: readonly string[] | undefined,
): Outcomes {
  const tokenIds = tokensOfMarket(t, market).map((row) => wordsToDecimal(t.tokenI, tokenIdAt(row)));
  return { tokenIds, names: names ?? [] };
}

export function weightsOf(
  { payout, payouts }: PayoutInput,
  outcomes: Outcomes,
): readonly number[] | OperationRefused {
  if ((payout === undefined) === (payouts === undefined)) {
    const detail = 'one of payout and payouts says what the outcomes pay';
    return refusedField('payout', detail);
  }
  if (payout !== undefined) return payout;
  const weights = outcomes.tokenIds.map(() => 0);
  const named = new Set<number>();
  for (const [name, weight] of Object.entries(payouts!)) {
    const outcome = outcomeOf(name, outcomes);
    if (typeof outcome === 'string') return refused(outcome);
    if (named.has(outcome)) return refused(`two of the payouts are for the outcome ${name}`);
    named.add(outcome);
    weights[outcome] = weight;
  }
  return weights;
}

function refused(detail: string): OperationRefused {
  return refusedField('payouts', detail);
}

/** Index of an outcome by its token id or its name, or the text of a refusal. */
function outcomeOf(named: string, { names, tokenIds }: Outcomes): number | string {
  const byToken = tokenIds.indexOf(named);
  if (byToken !== -1) return byToken;
  const exact = placesOf(names, (name) => name === named);
  const folded = named.toLowerCase();
  const found = exact.length > 0 ? exact : placesOf(names, (name) => name.toLowerCase() === folded);
  if (found.length === 1) return found[0]!;
  if (names.length === 0) return 'the catalog does not name the outcomes: name their token ids';
  const of = names.map((name, i) => `${name} (${tokenIds[i]})`).join(', ');
  if (found.length > 1)
    return `${named} is the name of ${found.length} outcomes: name its token id of ${of}`;
  return `no outcome is called ${named}: the outcomes are ${of}`;
}

function placesOf(names: readonly string[], isMeant: (name: string) => boolean): number[] {
  return names.flatMap((name, place) => (isMeant(name) ? [place] : []));
}
