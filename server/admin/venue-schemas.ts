/** Inputs and answers of the operations on the ledger, on events and on markets. */
import { FEE_BPS_MAX, OUTCOMES_MAX } from '../../engine/tables/capacities.ts';
import { TICK_GRIDS } from '../../engine/tables/units.ts';
import { type TSchema, Type } from '../common/schema.ts';
import { ID_RULE } from '../ledger/request-id.ts';
import { STATEMENT_MAX, STATEMENT_PAGE, StatementEntryRow } from '../ledger/statement-schemas.ts';
import { inputOf, limitOf, Wallet } from './operation-schemas.ts';

const Amount = Type.String({ description: 'collateral, a decimal with at most six decimals' });
const AmountInput = Type.String({
  pattern: '^[0-9]{1,10}(?:\\.[0-9]{1,6})?$',
  description: 'collateral above 0, a decimal text with at most six decimals',
});
const RequestId = Type.Optional(
  Type.String({ maxLength: 99, description: `${ID_RULE}; one is made where it is absent` }),
);
const Repeated = Type.Boolean({ description: 'true: it was done before under this id' });
const Condition = Type.String({
  pattern: '^0x[0-9a-fA-F]{64}$',
  description: 'a condition id, 0x and 64 hexadecimal digits',
});

export const FundsInput = inputOf({ wallet: Wallet, amount: AmountInput, id: RequestId });
export const DepositInput = inputOf({
  wallet: Wallet,
  amount: AmountInput,
  signer: Type.Optional({ ...Wallet, description: 'who may sign for the wallet, an address' }),
  id: RequestId,
});
export const FundsAnswer = Type.Object({
  id: Type.String(),
  wallet: Wallet,
  amount: Amount,
  cash: Type.String({ description: 'cash of the wallet after it' }),
  time: Type.Integer({ description: 'unix milliseconds' }),
  repeated: Repeated,
});
export const DeclareInput = inputOf({ wallet: Wallet, signer: Wallet, id: RequestId });
export const DeclareAnswer = Type.Object({
  id: Type.String(),
  wallet: Wallet,
  signer: Wallet,
  repeated: Repeated,
});

const sums = { total: Amount, reserved: Amount, free: Amount };
export const BalanceInput = inputOf({ wallet: Wallet });
export const BalanceAnswer = Type.Object({
  wallet: Wallet,
  cash: Type.Object(sums),
  positions: Type.Array(Type.Object({ token_id: Type.String(), ...sums })),
});
export const StatementInput = inputOf({
  wallet: Wallet,
  before: Type.Optional(
    Type.Integer({ minimum: 0, description: 'the number of an entry: those before it' }),
  ),
  limit: limitOf(STATEMENT_MAX, STATEMENT_PAGE),
});
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
  more: Type.Boolean({ description: 'there are further ones `before` the last' }),
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
});

const texts = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, pattern: '\\S', description });
const title = texts(300, 'a text of at most 300 characters');
const description = Type.Optional(
  Type.String({ maxLength: 10_000, description: 'a text of at most 10000 characters' }),
);
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
const key = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'a text of at most 100 characters that tells it from others of the same name',
  }),
);
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
/** A member that must be as it is: its refusal says so. */
const same = <S extends TSchema>(schema: S): S => ({
  ...schema,
  description: `${schema.description}, as it was made`,
});
const Made = Type.Boolean({ description: 'false: it was so before' });

const tags = Type.Optional(
  Type.Array(texts(100, 'a label'), { maxItems: 20, description: 'at most 20 labels' }),
);
const shown = { description, startDate: time, endDate: time };

export const EventInput = inputOf({ title, ...shown, tags, negRisk, id: key });
export const EditEventInput = inputOf({
  event: EventId,
  title: Type.Optional(title),
  ...shown,
  tags,
  negRisk: same(negRisk),
});
export const EventAnswer = Type.Object({ event: EventId, slug: Type.String(), changed: Made });

const outcomes = Type.Array(texts(100, 'a name'), {
  minItems: 2,
  maxItems: OUTCOMES_MAX,
  uniqueItems: true,
  description: `2 to ${OUTCOMES_MAX} different names`,
});
const terms = { tick, minimum, fee };

export const MarketInput = inputOf({
  question: title,
  outcomes,
  event: Type.Optional(EventId),
  ...shown,
  ...terms,
  negRisk,
  id: key,
});
export const MarketAnswer = Type.Object({
  condition: Condition,
  tokens: Type.Array(Type.String(), { description: 'token ids, in the order of the outcomes' }),
  event: EventId,
  slug: Type.String(),
  changed: Made,
});
export const EditMarketInput = inputOf({
  condition: Condition,
  question: Type.Optional(title),
  ...shown,
  ...terms,
  outcomes: same(Type.Optional(outcomes)),
  event: same(Type.Optional(EventId)),
  negRisk: same(negRisk),
});
export const ConditionInput = inputOf({ condition: Condition });

export const VoidInput = inputOf({ condition: Condition, id: RequestId });
export const ResolveInput = inputOf({
  condition: Condition,
  payout: Type.Array(Type.Integer({ minimum: 0, maximum: 10_000 }), {
    minItems: 2,
    maxItems: OUTCOMES_MAX,
    description: 'a whole number for each outcome, which pays its share of their sum',
  }),
  id: RequestId,
});
export const ResolvedAnswer = Type.Object({
  id: Type.String(),
  condition: Condition,
  payout: Type.Array(Type.Integer()),
  void: Type.Boolean(),
  state: Type.Union([Type.Literal('resolving'), Type.Literal('resolved')]),
  repeated: Repeated,
});
