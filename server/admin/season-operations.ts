/** The end of a season by an operator. Rules: docs/ledger.md#seasons. Thread: I/O. */
import type { SeasonFields } from '../../engine/commands.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { onlyHouseHinders, seasonIsEnding } from '../../engine/season.ts';
import { microText, parseMicroUp } from '../common/decimal.ts';
import type { Liquidity } from '../liquidity/liquidity.ts';
import type { LedgerOutcome } from '../wallet/ledger-commands.ts';
import { operatorRequestId } from '../wallet/request-id.ts';
import { BAD_ID, type LedgerOperationParts, newRequestId, refusalOf } from './ledger-operations.ts';
import { operation } from './operation-row.ts';
import { SeasonEndAnswer, SeasonEndInput } from './venue-schemas.ts';

interface SeasonOperationParts extends LedgerOperationParts {
  /** `undefined` without a ledger. */
  readonly liquidity: Pick<Liquidity, 'removeAll'> | undefined;
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
    (parts: SeasonOperationParts) =>
      async ({ id: text = newRequestId(parts.now()), name, startSum }) => {
        const { nameSeason, sequenceLock, t } = parts;
        const id = operatorRequestId(text);
        if (id === undefined) return BAD_ID;
        const outcome = await end(parts, { id, startSum: parseMicroUp(startSum) });
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

/** Pays out what the house has, as a removal of liquidity does, where only that keeps the season from its end. */
async function end(
  { ledger, liquidity, sequenceLock, t }: SeasonOperationParts,
  fields: SeasonFields,
): Promise<LedgerOutcome> {
  const outcome = await ledger.endSeason(fields);
  const isBusy = outcome.kind === 'refused' && outcome.reason === RejectReason.seasonBusy;
  if (!isBusy || !(await sequenceLock.read(() => onlyHouseHinders(t)))) return outcome;
  return (await liquidity?.removeAll()) ?? ledger.endSeason(fields);
}
