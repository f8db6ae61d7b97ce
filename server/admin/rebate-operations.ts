/** Payment of rebates by an operator. Rules: docs/ledger.md#rebates. Thread: I/O. */
import { ledgerIsOn } from '../../engine/ledger/reads.ts';
import { ProjectionUnready } from '../../storage/projection/reader.ts';
import { microText } from '../common/decimal.ts';
import {
  dateOf,
  dayOf,
  lastWholeDay,
  payRebates,
  type RebateParts,
} from '../wallet/rebate-payments.ts';
import { LEDGER_OFF, refusalOf } from './ledger-operations.ts';
import { operation, refused, refusedField } from './operation-row.ts';
import { RebatesAnswer, RebatesInput } from './venue-schemas.ts';

const UNREADY = refused(
  'BEING_DERIVED',
  'they are derived from the fills, in the order of seconds; send it again',
  'rebates are being derived',
);
const NO_DAY = refusedField('date', 'date must be a day of UTC that is over, such as 2027-01-31');

export const REBATE_OPERATIONS = [
  operation(
    'POST /admin/ledger/rebates/pay',
    {
      does: 'pays the rebates of a day to its makers out of the fees of the venue, each once',
      input: RebatesInput,
      answer: RebatesAnswer,
    },
    (parts: RebateParts) =>
      async ({ date = dateOf(lastWholeDay(parts.now())) }) => {
        if (!ledgerIsOn(parts.t)) return LEDGER_OFF;
        const day = dayOf(date);
        if (day === undefined || day > lastWholeDay(parts.now())) return NO_DAY;
        try {
          const { amount, stopped, ...counts } = await payRebates(parts, day);
          if (stopped !== undefined) return refusalOf(stopped.outcome);
          return { date, ...counts, amount: microText(amount) };
        } catch (error) {
          if (error instanceof ProjectionUnready) return UNREADY;
          throw error;
        }
      },
  ),
];
