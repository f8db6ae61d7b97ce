/** Inputs and answers of the operations on the ledger, on events and on markets. */
import { FEE_BPS_MAX, OUTCOMES_MAX, REVIEW_MS_MAX } from '../../engine/tables/capacities.ts';
import { TICK_GRIDS } from '../../engine/tables/units.ts';
import { type TSchema, Type } from '../common/schema.ts';
import { nameSchema, proseSchema } from '../common/text-schemas.ts';
import { OPERATOR_ID_RULE } from '../wallet/request-id.ts';
import { STATEMENT_MAX, STATEMENT_PAGE, StatementEntryRow } from '../wallet/statement-schemas.ts';
import { inputOf, limitOf, Wallet, WalletRef } from './operation-schemas.ts';

const Amount = Type.String({ description: 'collateral, a decimal with at most six decimals' });
export const AMOUNT_PATTERN = '^(?:0|[1-9][0-9]{0,9})(?:\\.[0-9]{1,6})?$';
export const AMOUNT_RULE =
  'collateral above 0, a decimal text with at most six decimals, without leading zeros';
const AmountInput = Type.String({ pattern: AMOUNT_PATTERN, description: AMOUNT_RULE });
const RequestId = Type.Optional(
  Type.String({ description: `${OPERATOR_ID_RULE}; one is made where it is absent` }),
);
const Repeated = Type.Boolean({ description: 'true: it was done before under this id' });
/**
 * Pattern of a market in an input; named-inputs.ts replaces it by the condition id, and that of an event by
 * its id.
 */
export const MARKET_REF = '^(?:0x[0-9a-fA-F]{64}|(?!0[xX]).{1,300})$';
const MarketRef = Type.String({
  pattern: MARKET_REF,
  description: 'a market: its condition id, 0x and 64 hexadecimal digits, its number or its slug',
});
export const EVENT_REF = '^.{1,300}$';
const EventRef = Type.String({
  pattern: EVENT_REF,
  description: 'an event: its number or its slug',
});
const Condition = Type.String({
  pattern: '^0x[0-9a-fA-F]{64}$',
  description: 'a condition id, 0x and 64 hexadecimal digits',
});

export const FundsInput = inputOf({ wallet: WalletRef, amount: AmountInput, id: RequestId });
export const DepositInput = inputOf({
  wallet: WalletRef,
  amount: AmountInput,
  signer: Type.Optional(WalletRef),
  id: RequestId,
});
/** Lines in one request, and bytes of its body: twice the need of that many lines. */
export const DEPOSIT_LINES_MAX = 500;
export const DEPOSITS_BODY_BYTES = 128 * 1024;
const LineNumber = Type.Integer({ minimum: 1, description: 'its number in the file, from 1' });
export const DepositsInput = inputOf({
  id: Type.String({
    description: `the id of the file; with ":" and the number of each line behind it ${OPERATOR_ID_RULE}`,
  }),
  lines: Type.Array(
    Type.Object(
      {
        line: LineNumber,
        wallet: Wallet,
        amount: AmountInput,
        signer: Type.Optional({
          ...Wallet,
          description: 'who may sign for the wallet, an address',
        }),
      },
      { additionalProperties: false },
    ),
    { minItems: 1, maxItems: DEPOSIT_LINES_MAX, description: `1 to ${DEPOSIT_LINES_MAX} lines` },
  ),
});
export const DepositsAnswer = Type.Object({
  id: Type.String(),
  paid: Type.Integer({ description: 'lines that are paid in now' }),
  repeated: Type.Integer({ description: 'lines that were paid in before under this id' }),
  amount: Type.String({ description: 'what was paid in now' }),
  refused: Type.Array(
    Type.Object({
      line: LineNumber,
      error: Type.String(),
      code: Type.Optional(Type.String()),
      detail: Type.String(),
    }),
    { description: 'lines that changed nothing; all others are done' },
  ),
});
export const FundsAnswer = Type.Object({
  id: Type.String(),
  wallet: Wallet,
  amount: Amount,
  cash: Type.String({ description: 'cash of the wallet after it' }),
  time: Type.Integer({ description: 'unix milliseconds' }),
  repeated: Repeated,
});
export const DrawFeesInput = inputOf({ amount: AmountInput, id: RequestId });
export const DrawFeesAnswer = Type.Object({
  id: Type.String(),
  amount: Amount,
  fees: Type.String({ description: 'fees of the venue after it' }),
  time: Type.Integer({ description: 'unix milliseconds' }),
  repeated: Repeated,
});
export const DeclareInput = inputOf({ wallet: WalletRef, signer: WalletRef, id: RequestId });
export const DeclareAnswer = Type.Object({
  id: Type.String(),
  wallet: Wallet,
  signer: Wallet,
  repeated: Repeated,
});

const sums = { total: Amount, reserved: Amount, free: Amount };
export const BalanceInput = inputOf({ wallet: WalletRef });
export const BalanceAnswer = Type.Object({
  wallet: Wallet,
  cash: Type.Object(sums),
  positions: Type.Array(
    Type.Object({
      token_id: Type.String(),
      condition_id: Type.String(),
      outcome: Type.String({ description: '"" where the catalog does not list the market' }),
      slug: Type.String({ description: 'of the market; "" where the catalog does not list it' }),
      ...sums,
    }),
  ),
});
const page = {
  before: Type.Optional(
    Type.Integer({ minimum: 0, description: 'the number of an entry: those before it' }),
  ),
  limit: limitOf(STATEMENT_MAX, STATEMENT_PAGE),
};
const More = Type.Boolean({ description: 'there are further ones `before` the last' });
export const StatementInput = inputOf({ wallet: WalletRef, ...page });
export const StatementAnswer = Type.Object({
  wallet: Wallet,
  entries: Type.Array(
    Type.Object({
      ...StatementEntryRow,
      cash: Amount,
      shares: Amount,
      cash_after: Amount,
      shares_after: Amount,
    }),
  ),
  more: More,
});
export const FeesInput = inputOf(page);
export const FeesAnswer = Type.Object({
  fees: Type.String({ description: 'what there is now, of trades and of resolved markets' }),
  entries: Type.Array(
    Type.Object({
      entry: Type.Integer({ description: 'its number in the ledger' }),
      timestamp: Type.Integer({ description: 'unix milliseconds' }),
      wallet: Type.String({ description: 'who was paid; "" = it was drawn' }),
      amount: Amount,
      fees_after: Type.String({ description: 'fees of the venue after it' }),
    }),
  ),
  more: More,
});
export const TotalsAnswer = Type.Object({
  deposited: Type.String({ description: 'deposits less withdrawals' }),
  cash: Amount,
  collateral: Amount,
  fees: Amount,
  rounding: Amount,
  imbalance: Type.String({ description: 'always 0' }),
  entries: Type.Integer(),
  positions: Type.Integer(),
  resolving: Type.Integer({ description: 'markets whose payouts are not done' }),
  proposals: Type.Integer({ description: 'markets of which a payout is proposed' }),
});

const title = nameSchema(300);
const description = Type.Optional(proseSchema(10_000));
const time = Type.Optional(
  Type.String({
    pattern: '^\\d{4}-[01]\\d-[0-3]\\dT[0-2]\\d:[0-5]\\d:[0-5]\\dZ$',
    description: 'a time such as 2027-01-31T18:00:00Z',
  }),
);
const tick = Type.Optional(
  Type.Union(
    TICK_GRIDS.map((grid) => Type.Literal(String(1 / grid))),
    { description: `one of ${TICK_GRIDS.map((grid) => 1 / grid).join(', ')}, as text` },
  ),
);
const minimum = Type.Optional(
  Type.String({
    pattern: '^[0-9]{1,9}(?:\\.[0-9]{1,6})?$',
    description: 'least shares of an order, a decimal text with at most six decimals',
  }),
);
const key = Type.Optional({
  ...nameSchema(100),
  description:
    'a text of at most 100 printable characters that tells it from others of the same name',
});
const fee = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: FEE_BPS_MAX,
    description: `the base fee of takers, a whole number of basis points from 0 to ${FEE_BPS_MAX}`,
  }),
);
const negRisk = Type.Optional(
  Type.Boolean({ description: 'true where at most one of the markets of the event can be Yes' }),
);
const EventId = Type.String({
  pattern: '^(?:0|[1-9][0-9]{0,14})$',
  description: 'the id of an event',
});
/** Member with a fixed value: its refusal states the value. */
const same = <S extends TSchema>(schema: S): S => ({
  ...schema,
  description: `${schema.description}, as it was made`,
});
const Made = Type.Boolean({ description: 'false: it was so before' });

const tags = Type.Optional(
  Type.Array(nameSchema(100, 'a label'), { maxItems: 20, description: 'at most 20 labels' }),
);
const shown = { description, startDate: time, endDate: time };
/** From `endDate` on a market takes no orders. */
const keepOpen = Type.Optional(
  Type.Boolean({
    description: 'true: `endDate` is a date only, and the market trades on after it',
  }),
);

/** Older name of `key`. */
const oldKey = Type.Optional({ ...key, description: 'the older name of `key`: one of them' });
export const EventInput = inputOf({ title, ...shown, tags, negRisk, key, id: oldKey });
export const EditEventInput = inputOf({
  event: EventRef,
  title: Type.Optional(title),
  ...shown,
  tags,
  negRisk: same(negRisk),
});
export const EventAnswer = Type.Object({ event: EventId, slug: Type.String(), changed: Made });

const outcomes = Type.Array(nameSchema(100, 'a name'), {
  minItems: 2,
  maxItems: OUTCOMES_MAX,
  uniqueItems: true,
  description: `2 to ${OUTCOMES_MAX} different names`,
});
const terms = { tick, minimum, fee };

export const MarketInput = inputOf({
  question: title,
  outcomes,
  event: Type.Optional(EventRef),
  ...shown,
  keepOpen,
  ...terms,
  negRisk,
  key,
  id: oldKey,
});
export const MarketAnswer = Type.Object({
  condition: Condition,
  tokens: Type.Array(Type.String(), { description: 'token ids, in the order of the outcomes' }),
  outcomes: Type.Array(Type.String(), { description: 'their names' }),
  event: EventId,
  slug: Type.String(),
  end: Type.Union([Type.String(), Type.Null()], {
    description: 'from this time on it takes no orders; null: it has no such time',
  }),
  changed: Made,
});
export const EditMarketInput = inputOf({
  condition: MarketRef,
  question: Type.Optional(title),
  ...shown,
  keepOpen,
  ...terms,
  outcomes: same(Type.Optional(outcomes)),
  event: same(Type.Optional(EventRef)),
  negRisk: same(negRisk),
});
export const ConditionInput = inputOf({ condition: MarketRef });

const Confirm = Type.Optional(
  Type.Boolean({ description: 'true: needed where the node has RESOLVE_CONFIRM=always' }),
);
const REVIEW_SECONDS_MAX = REVIEW_MS_MAX / 1_000;
const Review = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: REVIEW_SECONDS_MAX,
    description: `whole seconds from 1 to ${REVIEW_SECONDS_MAX} for which the payout is a proposal: the market halts, and pays after them`,
  }),
);
const decided = { review: Review, confirm: Confirm, id: RequestId };

export const VoidInput = inputOf({ condition: MarketRef, ...decided });
const WEIGHT_MAX = 10_000;
const Weight = Type.Integer({ minimum: 0, maximum: WEIGHT_MAX });
/** A token id, or the name of an outcome. */
const OutcomeKey = Type.String({ pattern: '^[\\s\\S]{1,300}$' });

const payouts = {
  payout: Type.Optional(
    Type.Array(Weight, {
      minItems: 2,
      maxItems: OUTCOMES_MAX,
      description:
        'a whole number for each outcome, in the order that the catalog shows, which pays its share of their sum',
    }),
  ),
  payouts: Type.Optional(
    Type.Record(OutcomeKey, Weight, {
      additionalProperties: false,
      minProperties: 1,
      maxProperties: OUTCOMES_MAX,
      description: `whole numbers from 0 to ${WEIGHT_MAX} by token id or name of the outcome; what is not named pays nothing`,
    }),
  ),
};

/** One of `payout` and `payouts`. */
export const ResolveInput = inputOf({ condition: MarketRef, ...payouts, ...decided });
const payoutShown = {
  condition: Condition,
  payout: Type.Array(Type.Integer(), { description: 'in the order that the catalog shows' }),
  payouts: Type.Record(Type.String(), Type.Integer(), { description: 'the same by token id' }),
  outcomes: Type.Array(Type.String(), {
    description: 'names in that order; none where the catalog does not list the market',
  }),
  void: Type.Boolean(),
};
export const ResolvedAnswer = Type.Object({
  id: Type.String(),
  ...payoutShown,
  state: Type.Union(
    [
      Type.Literal('proposed'),
      Type.Literal('withdrawn'),
      Type.Literal('resolving'),
      Type.Literal('resolved'),
    ],
    {
      description:
        'of the market now; withdrawn: the proposal of this id was taken back, or its market has another one',
    },
  ),
  deadline: Type.Optional(
    Type.String({ description: 'of a proposal: ISO 8601, it is paid from then on' }),
  ),
  repeated: Repeated,
});

/** One of `payout`, `payouts` and `void`. */
export const DryRunInput = inputOf({
  condition: MarketRef,
  ...payouts,
  void: Type.Optional(Type.Literal(true, { description: 'true: equal weights' })),
});
export const DryRunAnswer = Type.Object({
  ...payoutShown,
  by_outcome: Type.Array(
    Type.Object({
      token_id: Type.String(),
      outcome: Type.String({ description: '"" where the catalog does not list the market' }),
      wallets: Type.Integer({ description: 'that have shares of it' }),
      shares: Amount,
      paid: Amount,
      venue_shares: Type.String({ description: 'of the venue, by fees of buyers' }),
      venue_paid: Amount,
    }),
  ),
  wallets: Type.Integer({ description: 'that have shares of any outcome' }),
  paid: Type.String({ description: 'to wallets in all' }),
  venue_paid: Type.String({ description: 'to the fees of the venue in all' }),
  rounding: Type.String({ description: 'what rounding down leaves to the venue' }),
  open_orders: Type.Integer({ description: 'that end' }),
  released: Type.String({ description: 'cash that those of them that buy reserve' }),
});

export const WithdrawProposalInput = inputOf({ condition: MarketRef, id: RequestId });
export const WithdrawnAnswer = Type.Object({
  id: Type.String(),
  condition: Condition,
  state: Type.Literal('withdrawn'),
  repeated: Repeated,
});
export const ProposalsAnswer = Type.Object({
  proposals: Type.Array(
    Type.Object({
      ...payoutShown,
      slug: Type.String({ description: '"" where the catalog does not list the market' }),
      deadline: Type.String({ description: 'ISO 8601: it is paid from then on' }),
    }),
    { description: 'the next to be paid first' },
  ),
});
