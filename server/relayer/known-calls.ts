/**
 * Calls that a relayed batch may hold: functions by contract and selector, and what each does in the ledger.
 * Rules: docs/protocol.md#relayed-batches
 *
 * Thread: any.
 */
import { type RelayCallFields, RelayKind, type RelayKindCode } from '../../engine/commands.ts';
import { OUTCOMES_MAX } from '../../engine/tables/capacities.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import { approvalsOf, type Exchanges } from '../wallet/approval-table.ts';
import {
  COLLATERAL,
  COLLATERAL_ADAPTER,
  CONDITIONAL,
  NEG_RISK_ADAPTER,
  NEG_RISK_COLLATERAL_ADAPTER,
  PERPETUALS_DEPOSIT,
  POSITIONS,
  ROUTER,
} from '../wallet/venue-contracts.ts';
import { Arguments, BadCallData, SELECTOR_BYTES, selectorOf } from './call-data.ts';

export interface SentCall {
  /** Lower case. */
  readonly target: string;
  readonly data: Uint8Array;
}

/** Form of a market's tokens, which decides the contracts that split and merge them. */
export type MarketForm = 'normal' | 'negRisk' | 'positions';

export interface NamedMarket {
  readonly row: MarketRow;
  readonly form: MarketForm;
  readonly outcomes: number;
}

export interface CallFault {
  readonly code: 'UNKNOWN_CALL' | 'INVALID_CALL' | 'MARKET_NOT_REGISTERED';
  readonly detail: string;
}

/** Meaning of the arguments of a function. */
interface Meaning {
  readonly condition: string;
  readonly amount: number;
  /** Bits of the outcomes that it names; undefined where it names all. */
  readonly indexSets?: readonly number[];
}

interface SetsFunction {
  readonly kind: RelayKindCode;
  readonly read: (given: Arguments) => Meaning;
}

const HASH_ZEROS = `0x${'0'.repeat(64)}`;
const APPROVE = selectorOf('approve(address,uint256)');
const APPROVE_ALL = selectorOf('setApprovalForAll(address,bool)');

/** Functions of the contracts of the first protocol that name the collateral, a parent and outcomes. */
const CONDITIONAL_FUNCTIONS = functions({
  'splitPosition(address,bytes32,bytes32,uint256[],uint256)': {
    kind: RelayKind.split,
    read: (given) => ({ ...conditionOf(given), amount: given.number(4) }),
  },
  'mergePositions(address,bytes32,bytes32,uint256[],uint256)': {
    kind: RelayKind.merge,
    read: (given) => ({ ...conditionOf(given), amount: given.number(4) }),
  },
  'redeemPositions(address,bytes32,bytes32,uint256[])': {
    kind: RelayKind.redeem,
    read: (given) => ({ ...conditionOf(given), amount: 0 }),
  },
});
const ADAPTER_FUNCTIONS = functions({
  'splitPosition(bytes32,uint256)': {
    kind: RelayKind.split,
    read: (given) => ({ condition: given.hex(0), amount: given.number(1) }),
  },
  'mergePositions(bytes32,uint256)': {
    kind: RelayKind.merge,
    read: (given) => ({ condition: given.hex(0), amount: given.number(1) }),
  },
  'redeemPositions(bytes32,uint256[])': {
    kind: RelayKind.redeem,
    read: (given) => {
      given.numbers(1, OUTCOMES_MAX);
      return { condition: given.hex(0), amount: 0 };
    },
  },
});
/** Functions of the second protocol. */
const ROUTER_FUNCTIONS = functions({
  'split(bytes31,uint256)': {
    kind: RelayKind.split,
    read: (given) => ({ condition: given.hex31(0), amount: given.number(1) }),
  },
  'merge(bytes31,uint256)': {
    kind: RelayKind.merge,
    read: (given) => ({ condition: given.hex31(0), amount: given.number(1) }),
  },
  'redeem(bytes31,uint256,uint256)': {
    kind: RelayKind.redeem,
    read: (given) => {
      given.flag(1);
      given.number(2);
      return { condition: given.hex31(0), amount: 0 };
    },
  },
});

const SETS_CONTRACTS: Readonly<
  Record<string, { readonly form: MarketForm; readonly functions: Map<string, SetsFunction> }>
> = {
  [CONDITIONAL]: { form: 'normal', functions: CONDITIONAL_FUNCTIONS },
  [COLLATERAL_ADAPTER]: { form: 'normal', functions: CONDITIONAL_FUNCTIONS },
  [NEG_RISK_COLLATERAL_ADAPTER]: { form: 'negRisk', functions: CONDITIONAL_FUNCTIONS },
  [NEG_RISK_ADAPTER]: {
    form: 'negRisk',
    functions: new Map([...CONDITIONAL_FUNCTIONS, ...ADAPTER_FUNCTIONS]),
  },
  [ROUTER]: { form: 'positions', functions: ROUTER_FUNCTIONS },
};

const FORM_TEXT: Readonly<Record<MarketForm, string>> = {
  normal: 'a market without negative risk',
  negRisk: 'a market with negative risk',
  positions: 'a market of positions',
};

export class KnownCalls {
  private readonly marketOf: (condition: string) => NamedMarket | undefined;
  /** Spenders by token. */
  private readonly spenders: ReadonlyMap<string, ReadonlySet<string>>;

  /** @param others further contracts that orders are signed for */
  constructor(
    exchanges: Exchanges,
    others: readonly string[],
    marketOf: (condition: string) => NamedMarket | undefined,
  ) {
    this.marketOf = marketOf;
    const spenders = new Map<string, Set<string>>(
      [COLLATERAL, CONDITIONAL, POSITIONS].map((token) => [token, new Set()]),
    );
    for (const { spender, token } of approvalsOf(exchanges)) spenders.get(token)!.add(spender);
    spenders.get(COLLATERAL)!.add(PERPETUALS_DEPOSIT);
    for (const token of [COLLATERAL, CONDITIONAL]) {
      for (const other of others) spenders.get(token)!.add(other.toLowerCase());
    }
    this.spenders = spenders;
  }

  /** Returns what a call does, or why it is not taken. */
  read(call: SentCall): RelayCallFields | CallFault {
    try {
      return this.meaningOf(call);
    } catch (error) {
      if (!(error instanceof BadCallData)) throw error;
      return { code: 'INVALID_CALL', detail: error.message };
    }
  }

  private meaningOf({ data, target }: SentCall): RelayCallFields | CallFault {
    const selector = `0x${Buffer.from(data.subarray(0, SELECTOR_BYTES)).toString('hex')}`;
    const given = new Arguments(data.subarray(SELECTOR_BYTES));
    const sets = SETS_CONTRACTS[target];
    const found = sets?.functions.get(selector);
    if (sets !== undefined && found !== undefined) return this.setsOf(sets.form, found, given);
    const spenders = this.spenders.get(target);
    const isApproval = selector === (target === COLLATERAL ? APPROVE : APPROVE_ALL);
    if (spenders !== undefined && isApproval) return approvalOf(target, spenders, given);
    return sets === undefined && spenders === undefined
      ? { code: 'UNKNOWN_CALL', detail: `no contract ${target} is known here` }
      : { code: 'UNKNOWN_CALL', detail: `the contract ${target} has no function ${selector} here` };
  }

  private setsOf(
    form: MarketForm,
    { kind, read }: SetsFunction,
    given: Arguments,
  ): RelayCallFields | CallFault {
    const { amount, condition, indexSets } = read(given);
    const market = this.marketOf(condition);
    if (market === undefined) {
      return { code: 'MARKET_NOT_REGISTERED', detail: `no market ${condition} is known here` };
    }
    if (market.form !== form) {
      const detail = `the contract is that of ${FORM_TEXT[form]}, and ${condition} is ${FORM_TEXT[market.form]}`;
      return { code: 'INVALID_CALL', detail };
    }
    if (indexSets !== undefined && !areOutcomes(indexSets, market.outcomes, kind)) {
      return { code: 'INVALID_CALL', detail: 'the sets of outcomes must be 1, 2, 4 and so on' };
    }
    return { kind, market: market.row, amount };
  }
}

function functions(table: Readonly<Record<string, SetsFunction>>): Map<string, SetsFunction> {
  return new Map(Object.entries(table).map(([signature, row]) => [selectorOf(signature), row]));
}

function conditionOf(given: Arguments): Omit<Meaning, 'amount'> {
  if (given.address(0) !== COLLATERAL)
    throw new BadCallData(`the collateral must be ${COLLATERAL}`);
  if (given.hex(1) !== HASH_ZEROS) throw new BadCallData('the parent collection must be zero');
  return { condition: given.hex(2), indexSets: given.numbers(3, OUTCOMES_MAX) };
}

/** Returns true for one set for each outcome; a redemption may name fewer. */
function areOutcomes(sets: readonly number[], outcomes: number, kind: RelayKindCode): boolean {
  const known = new Set(Array.from({ length: outcomes }, (_, i) => 2 ** i));
  const isEach = new Set(sets).size === sets.length && sets.every((set) => known.has(set));
  return isEach && (kind === RelayKind.redeem ? sets.length > 0 : sets.length === outcomes);
}

function approvalOf(
  token: string,
  spenders: ReadonlySet<string>,
  given: Arguments,
): RelayCallFields | CallFault {
  const spender = given.address(0);
  const isGiven = token === COLLATERAL ? given.number(1) !== 0 : given.flag(1);
  if (!spenders.has(spender)) {
    return {
      code: 'UNKNOWN_CALL',
      detail: `${spender} is no contract that ${token} is approved for`,
    };
  }
  if (!isGiven) {
    return {
      code: 'INVALID_CALL',
      detail: 'an approval counts as given here, and cannot be taken back',
    };
  }
  return { kind: RelayKind.approve, market: 0, amount: 0 };
}
