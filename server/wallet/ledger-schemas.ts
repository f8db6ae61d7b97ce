/**
 * Requests and answers of the routes of the ledger. Amounts are whole micro-units as text, as in orders. Rules:
 * docs/protocol.md#balances
 */
import { CONDITION_SOURCE } from '../../storage/catalog/condition-ids.ts';
import { boundsOf } from '../common/json-measure.ts';
import { compileQuery } from '../common/query.ts';
import { Type } from '../common/schema.ts';
import { OWN_WALLET } from './agent-schemas.ts';
import { ID_RULE, ID_TEXT } from './request-id.ts';

const Address = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' });
const Micro = Type.String({ pattern: '^\\d+$', description: 'micro-units' });
const Milliseconds = Type.String({ pattern: '^\\d+$', description: 'unix milliseconds' });
const ConditionId = Type.String({ pattern: CONDITION_SOURCE, description: 'a condition id' });

export const BALANCE_QUERY = compileQuery(
  Type.Object({
    asset_type: Type.Union(
      [Type.Literal('COLLATERAL'), Type.Literal('CONDITIONAL'), Type.Literal('CONDITIONAL-V2')],
      // The text of an answer, which stays as it is; CONDITIONAL-V2 is the same as CONDITIONAL.
      { error: 'Invalid asset type', description: 'COLLATERAL or CONDITIONAL' },
    ),
    token_id: Type.Optional(Type.String()),
    signature_type: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 3,
        error: 'Invalid signature type',
        description: 'a whole number from 0 to 3',
      }),
    ),
    wallet: OWN_WALLET,
  }),
);
export const LEDGER_BALANCE_QUERY = compileQuery(Type.Object({ wallet: OWN_WALLET }));
export interface BalanceQuery {
  readonly asset_type: 'COLLATERAL' | 'CONDITIONAL' | 'CONDITIONAL-V2';
  readonly token_id?: string;
  readonly signature_type?: number;
  readonly wallet?: string;
}

export const BalanceAnswer = Type.Object({
  balance: Type.String({ pattern: '^\\d+$', description: 'base units' }),
  allowances: Type.Record(Address, Type.String({ pattern: '^\\d+$' })),
});

const amounts = { total: Micro, reserved: Micro, free: Micro };

export const LedgerBalanceAnswer = Type.Object({
  cash: Type.Object(amounts),
  positions: Type.Array(Type.Object({ token_id: Type.String(), ...amounts })),
});

export const SetsBody = Type.Object({
  conditionId: ConditionId,
  amount: Type.String({
    pattern: '^(?:0|[1-9]\\d{0,15})$',
    description: 'micro-units as text: a whole number from 1 to 2^53 - 1, without leading zeros',
  }),
  id: Type.String({
    pattern: ID_TEXT.source,
    description: ID_RULE,
  }),
});
export const SETS_BOUNDS = boundsOf(4);

export const SetsAnswer = Type.Object({
  id: Type.String(),
  conditionId: ConditionId,
  amount: Micro,
  cash: Type.String({ pattern: '^\\d+$', description: 'of the wallet after it, in micro-units' }),
  timestamp: Milliseconds,
});
