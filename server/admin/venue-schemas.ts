/** Inputs and answers of the operations on the ledger, on events and on markets. */
import {
  FEE_BPS_MAX,
  OUTCOMES_MAX,
  REVIEW_MS_MAX,
  TAKER_DELAY_MAX,
} from '../../engine/tables/capacities.ts';
import { SCHEDULE_EXPONENT_MAX, TICK_GRIDS } from '../../engine/tables/units.ts';
import { CONDITION_SOURCE } from '../../storage/catalog/condition-ids.ts';
import { type TSchema, Type } from '../common/schema.ts';
import { nameSchema, proseSchema } from '../common/text-schemas.ts';
import { LiquidityMarket } from '../liquidity/liquidity-row.ts';
import { flag, oneOf, text, whole } from '../routes/shorthand.ts';
import { OPERATOR_ID_RULE } from '../wallet/request-id.ts';
import { STATEMENT_MAX, STATEMENT_PAGE, StatementEntryRow } from '../wallet/statement-schemas.ts';
import { inputOf, limitOf, Wallet, WalletRef } from './operation-schemas.ts';

const Amount = text('collateral, a decimal with at most six decimals');
export const AMOUNT_PATTERN = '^(?:0|[1-9][0-9]{0,9})(?:\\.[0-9]{1,6})?$';
export const AMOUNT_RULE =
  'collateral above 0, a decimal text with at most six decimals, without leading zeros';
export const AmountInput = text(AMOUNT_RULE, { pattern: AMOUNT_PATTERN });
const RequestId = Type.Optional(text(`${OPERATOR_ID_RULE}; one is made where it is absent`));
const Repeated = flag('true: it was done before under this id');
/**
 * Pattern of a market in an input; named-inputs.ts replaces it by the condition id, and that of an event by
 * its id.
 */
export const MARKET_REF = '^(?:0x(?:[0-9a-fA-F]{62}|[0-9a-fA-F]{64})|(?!0[xX]).{1,300})$';
export const MarketRef = text(
  'a market: its condition id, 0x and 62 or 64 hexadecimal digits, its number or its slug',
  { pattern: MARKET_REF },
);
export const EVENT_REF = '^.{1,300}$';
const EventRef = text('an event: its number or its slug', { pattern: EVENT_REF });
const Condition = Type.String({
  pattern: CONDITION_SOURCE,
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
const LineNumber = whole('its number in the file, from 1', { minimum: 1 });
export const DepositsInput = inputOf({
  id: text(
    `the id of the file; with ":" and the number of each line behind it ${OPERATOR_ID_RULE}`,
  ),
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
  id: text(),
  paid: whole('lines that are paid in now'),
  repeated: whole('lines that were paid in before under this id'),
  amount: text('what was paid in now'),
  refused: Type.Array(
    Type.Object({
      line: LineNumber,
      error: text(),
      code: Type.Optional(text()),
      detail: text(),
    }),
    { description: 'lines that changed nothing; all others are done' },
  ),
});
export const FundsAnswer = Type.Object({
  id: text(),
  wallet: Wallet,
  amount: Amount,
  cash: text('cash of the wallet after it'),
  time: whole('unix milliseconds'),
  repeated: Repeated,
});
export const DrawFeesInput = inputOf({ amount: AmountInput, id: RequestId });
export const DrawFeesAnswer = Type.Object({
  id: text(),
  amount: Amount,
  fees: text('fees of the venue after it'),
  time: whole('unix milliseconds'),
  repeated: Repeated,
});
export const SeasonEndInput = inputOf({
  startSum: AmountInput,
  name: Type.Optional(nameSchema(100)),
  id: RequestId,
});
export const SeasonEndAnswer = Type.Object({
  id: text(),
  season: whole('number of the season that ends, from 1 on', { minimum: 1 }),
  start_sum: text('cash of each wallet at the start of the next season'),
  state: oneOf(['ending', 'ended'], 'balances are being reset, or all are'),
  time: whole('unix milliseconds'),
  repeated: Repeated,
});
export const RebatesInput = inputOf({
  date: Type.Optional(
    text('a day of UTC that is over, such as 2027-01-31; yesterday where it is absent', {
      pattern: '^\\d{4}-\\d{2}-\\d{2}$',
    }),
  ),
});
export const RebatesAnswer = Type.Object({
  date: text('the day'),
  paid: whole('wallets that were paid now'),
  repeated: whole('wallets that were paid before'),
  amount: text('what was paid now, a decimal'),
});
export const DeclareInput = inputOf({ wallet: WalletRef, signer: WalletRef, id: RequestId });
export const DeclareAnswer = Type.Object({
  id: text(),
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
      token_id: text(),
      condition_id: text(),
      outcome: text('"" where the catalog does not list the market'),
      slug: text('of the market; "" where the catalog does not list it'),
      ...sums,
    }),
  ),
});
const page = {
  before: Type.Optional(whole('the number of an entry: those before it', { minimum: 0 })),
  limit: limitOf(STATEMENT_MAX, STATEMENT_PAGE),
};
const More = flag('there are further ones `before` the last');
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
  fees: text('what there is now, of trades and of resolved markets'),
  entries: Type.Array(
    Type.Object({
      entry: whole('its number in the ledger'),
      timestamp: whole('unix milliseconds'),
      wallet: text('who was paid; "" = it was drawn'),
      amount: Amount,
      fees_after: text('fees of the venue after it'),
    }),
  ),
  more: More,
});
export const TotalsAnswer = Type.Object({
  deposited: text('deposits less withdrawals'),
  cash: Amount,
  collateral: Amount,
  fees: Amount,
  rounding: Amount,
  imbalance: text('always 0'),
  entries: whole(),
  positions: whole(),
  resolving: whole('markets whose payouts are not done'),
  proposals: whole('markets of which a payout is proposed'),
  seasons: whole('seasons that have ended or end'),
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
  whole(`the base fee of takers, a whole number of basis points from 0 to ${FEE_BPS_MAX}`, {
    minimum: 0,
    maximum: FEE_BPS_MAX,
  }),
);
const takerDelay = Type.Optional(
  whole(`the taker delay, a whole number of seconds from 0 to ${TAKER_DELAY_MAX}`, {
    minimum: 0,
    maximum: TAKER_DELAY_MAX,
  }),
);
const part = (does: string) =>
  Type.Optional(
    Type.String({
      pattern: '^(?:0(?:\\.[0-9]{1,6})?|1(?:\\.0{1,6})?)$',
      description: `${does}, a decimal text from 0 to 1 with at most six decimals`,
    }),
  );
const feeRate = part('rate of the fee schedule (0 takes it away)');
const feeRebate = part('part of a fee of the schedule that its maker may be paid back');
const feeExponent = Type.Optional(
  whole(`exponent of the fee schedule, a whole number from 0 to ${SCHEDULE_EXPONENT_MAX}`, {
    minimum: 0,
    maximum: SCHEDULE_EXPONENT_MAX,
  }),
);
const negRisk = Type.Optional(
  flag('true where at most one of the markets of the event can be Yes'),
);
const protocol = Type.Optional(
  whole(
    '2: the tokens are positions, and orders for them are signed in version 3, with two outcomes; 1 or absent: neither',
    { minimum: 1, maximum: 2 },
  ),
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
const Made = flag('false: it was so before');

const tags = Type.Optional(
  Type.Array(nameSchema(100, 'a label'), { maxItems: 20, description: 'at most 20 labels' }),
);
const shown = { description, startDate: time, endDate: time };
const keepOpen = Type.Optional(
  flag('true: `endDate` is a date only, and the market trades on after it'),
);

const oldKey = Type.Optional({ ...key, description: 'the older name of `key`: one of them' });
export const EventInput = inputOf({ title, ...shown, tags, negRisk, key, id: oldKey });
export const EditEventInput = inputOf({
  event: EventRef,
  title: Type.Optional(title),
  ...shown,
  tags,
  negRisk: same(negRisk),
});
export const EventAnswer = Type.Object({ event: EventId, slug: text(), changed: Made });

const outcomes = Type.Array(nameSchema(100, 'a name'), {
  minItems: 2,
  maxItems: OUTCOMES_MAX,
  uniqueItems: true,
  description: `2 to ${OUTCOMES_MAX} different names`,
});
const terms = { tick, minimum, fee, feeRate, feeExponent, feeRebate, takerDelay };

export const MarketInput = inputOf({
  question: title,
  outcomes,
  event: Type.Optional(EventRef),
  ...shown,
  keepOpen,
  ...terms,
  negRisk,
  protocol,
  liquidity: Type.Optional(
    text(`what the house quotes it with, two outcomes alone: ${AMOUNT_RULE}`, {
      pattern: AMOUNT_PATTERN,
    }),
  ),
  key,
  id: oldKey,
});
export const MarketAnswer = Type.Object({
  condition: Condition,
  tokens: Type.Array(text(), { description: 'token ids, in the order of the outcomes' }),
  outcomes: Type.Array(text(), { description: 'their names' }),
  event: EventId,
  slug: text(),
  end: Type.Union([text(), Type.Null()], {
    description: 'from this time on it takes no orders; null: it has no such time',
  }),
  liquidity: Type.Optional(text('what was paid in for its quotes')),
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

export const AddLiquidityInput = inputOf({
  condition: MarketRef,
  amount: AmountInput,
  price: Type.Optional(
    text(
      'price of the first outcome that `liquidity list` shows, between 0 and 1 with up to four decimals (as it is; at first 0.5)',
      { pattern: '^0\\.(?=[0-9]*[1-9])[0-9]{1,4}$' },
    ),
  ),
  id: RequestId,
});
export const RemoveLiquidityInput = inputOf({
  condition: MarketRef,
  amount: Type.Optional(AmountInput),
  id: RequestId,
});
export const LiquidityAnswer = Type.Object({
  id: text(),
  condition: Condition,
  wallet: Wallet,
  amount: text('what was paid, a decimal'),
  repeated: Repeated,
});
export const LiquidityMarkets = Type.Object({ markets: Type.Array(LiquidityMarket) });

const Confirm = Type.Optional(flag('true: needed where the node has RESOLVE_CONFIRM=always'));
const REVIEW_SECONDS_MAX = REVIEW_MS_MAX / 1_000;
const Review = Type.Optional(
  whole(
    `whole seconds from 1 to ${REVIEW_SECONDS_MAX} for which the payout is a proposal: the market halts, and pays after them`,
    { minimum: 1, maximum: REVIEW_SECONDS_MAX },
  ),
);
const Note = Type.Optional({
  ...nameSchema(280),
  description: `${nameSchema(280).description}, which everybody reads with the payout`,
});
const decided = { review: Review, confirm: Confirm, note: Note, id: RequestId };

export const VoidInput = inputOf({ condition: MarketRef, ...decided });
const WEIGHT_MAX = 10_000;
const Weight = Type.Integer({ minimum: 0, maximum: WEIGHT_MAX });
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
  payout: Type.Array(whole(), { description: 'in the order that the catalog shows' }),
  payouts: Type.Record(text(), whole(), { description: 'the same by token id' }),
  outcomes: Type.Array(text(), {
    description: 'names in that order; none where the catalog does not list the market',
  }),
  void: flag(),
};
export const ResolvedAnswer = Type.Object({
  id: text(),
  ...payoutShown,
  state: oneOf(
    ['proposed', 'withdrawn', 'resolving', 'resolved'],
    'of the market now; withdrawn: the proposal of this id was taken back, or its market has another one',
  ),
  deadline: Type.Optional(text('of a proposal: ISO 8601, it is paid from then on')),
  repeated: Repeated,
});

/** One of `payout`, `payouts` and `void`. */
export const DryRunInput = inputOf({
  condition: MarketRef,
  ...payouts,
  void: Type.Optional(Type.Literal(true, { description: 'true: equal weights' })),
  after: Type.Optional(whole('`next` of the page before, a whole number from 0', { minimum: 0 })),
  limit: limitOf(1_000, 100),
});
export const DryRunAnswer = Type.Object({
  ...payoutShown,
  rows: Type.Array(
    Type.Object({
      wallet: Wallet,
      name: text('that an operator gave to it; "" = none, or a resolver asks'),
      token_id: text(),
      outcome: text('"" where the catalog does not list the market'),
      shares: Amount,
      paid: Amount,
    }),
    { description: 'a page of those that have shares, by outcome; everything else is about all' },
  ),
  next: Type.Union([whole(), Type.Null()], { description: 'for `after`; null = there are none' }),
  by_outcome: Type.Array(
    Type.Object({
      token_id: text(),
      outcome: text('"" where the catalog does not list the market'),
      wallets: whole('that have shares of it'),
      shares: Amount,
      paid: Amount,
      venue_shares: text('of the venue, by fees of buyers'),
      venue_paid: Amount,
    }),
  ),
  wallets: whole('that have shares of any outcome'),
  paid: text('to wallets in all'),
  venue_paid: text('to the fees of the venue in all'),
  rounding: text('what rounding down leaves to the venue'),
  open_orders: whole('that end'),
  released: text('cash that those of them that buy reserve'),
});

export const WithdrawProposalInput = inputOf({ condition: MarketRef, id: RequestId });
export const WithdrawnAnswer = Type.Object({
  id: text(),
  condition: Condition,
  state: Type.Literal('withdrawn'),
  repeated: Repeated,
});
export const ProposalsAnswer = Type.Object({
  proposals: Type.Array(
    Type.Object({
      ...payoutShown,
      slug: text('"" where the catalog does not list the market'),
      deadline: text('ISO 8601: it is paid from then on'),
    }),
    { description: 'the next to be paid first' },
  ),
});
