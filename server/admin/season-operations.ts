/** The end of a season by an operator. Rules: docs/ledger.md#seasons. Thread: I/O. */
import { seasonIsEnding } from '../../engine/season.ts';
import { microText, parseMicroUp } from '../common/decimal.ts';
import { operatorRequestId } from '../wallet/request-id.ts';
import { BAD_ID, type LedgerOperationParts, newRequestId, refusalOf } from './ledger-operations.ts';
import { operation } from './operation-row.ts';
import { SeasonEndAnswer, SeasonEndInput } from './venue-schemas.ts';

interface SeasonOperationParts extends LedgerOperationParts {
  readonly nameSeason: (number: number, name: string) => Promise<void>;
}

export const SEASON_OPERATIONS = [
  operation(
    'POST /admin/seasons/end',
    {
      does: 'ends the season: archives its standings, and sets each wallet back to the start sum',
      input: SeasonEndInput,
      answer: SeasonEndAnswer,
    },
    ({ ledger, nameSeason, now, sequenceLock, t }: SeasonOperationParts) =>
      async ({ id: text = newRequestId(now()), name, startSum }) => {
        const id = operatorRequestId(text);
        if (id === undefined) return BAD_ID;
        const outcome = await ledger.endSeason({ id, startSum: parseMicroUp(startSum) });
        if (outcome.kind !== 'done') return refusalOf(outcome);
        const { amount, result: season, time } = outcome.first!;
        // Sent again under its id, it gets the name that a kill may have left out.
        if (name !== undefined) await nameSeason(season, name);
        const isEnding = await sequenceLock.read(() => seasonIsEnding(t));
        return {
          id: text,
          season,
          start_sum: microText(amount),
          state: isEnding ? ('ending' as const) : ('ended' as const),
          time,
          repeated: outcome.isRepeated,
        };
      },
  ),
];
