/**
 * Orders to make a fault against the row of their kind, and faults as answers show them.
 * Rules: docs/protocol.md#faults
 *
 * Thread: any; pure.
 */
import { conditionKey } from '../../storage/catalog/condition-ids.ts';
import type { Static } from '../common/schema.ts';
import type { FaultAnswer, StatusFaults, StatusKeyFaults } from './fault-schemas.ts';
import { type Fault, type FaultSpec, type Faults, isOfVenue } from './faults.ts';
import { FAULT_KINDS, type FaultKind, faultRow, type TargetMember } from './kinds.ts';

interface FaultInput extends Partial<Record<TargetMember, string | undefined>> {
  readonly kind: FaultKind;
  readonly count?: number;
  readonly seconds?: number;
  readonly probability?: number;
  readonly seed?: number;
  readonly ms?: number;
}

/** A member of an input that breaks a rule of its kind. */
export interface InputProblem {
  readonly member: string;
  readonly rule: string;
}

const TARGETS: readonly TargetMember[] = ['key', 'wallet', 'market'];

/** @param input of the right shape */
export function specOf(input: FaultInput): FaultSpec | InputProblem {
  const { count, kind, ms, probability, seconds, seed } = input;
  const row = faultRow(kind);
  const target = {
    key: input.key?.toLowerCase(),
    wallet: input.wallet?.toLowerCase(),
    market: input.market && conditionKey(input.market),
  };
  const foreign = TARGETS.find((one) => input[one] !== undefined && !row.targets.includes(one));
  if (foreign !== undefined) return { member: foreign, rule: `${kind} takes no ${foreign}` };
  if (isOfVenue({ kind, target })) {
    const rule = `${kind} of the whole venue ends by seconds, or when it is cleared`;
    if (count !== undefined) return { member: 'count', rule };
    if (probability !== undefined) return { member: 'probability', rule };
  }
  if (row.phases.length > 1 && seconds === undefined) {
    return { member: 'seconds', rule: `${kind} needs the seconds of its first phase` };
  }
  if (seed !== undefined && probability === undefined) {
    return { member: 'seed', rule: 'a seed needs a probability' };
  }
  if (row.ms === undefined) {
    if (ms !== undefined) return { member: 'ms', rule: `${kind} takes no ms` };
  } else if (ms !== undefined && (ms < row.ms.minimum || ms > row.ms.maximum)) {
    const { maximum, means, minimum } = row.ms;
    return { member: 'ms', rule: `milliseconds ${means}: from ${minimum} to ${maximum}` };
  }
  return {
    kind,
    target,
    count,
    seconds,
    probability: probability ?? 1,
    seed,
    ms: ms ?? row.ms?.usual ?? 0,
  };
}

export function shownFault(faults: Faults, fault: Fault): Static<typeof FaultAnswer> {
  const { count, id, kind, ms, owner, probability, seed, since, target, uses } = fault;
  const named = Object.entries(target).filter(([, value]) => value !== undefined);
  return {
    id,
    kind,
    by: owner === undefined ? 'operator' : 'key',
    ...Object.fromEntries(named),
    phase: faults.phaseOf(fault).name,
    uses,
    count: count ?? null,
    probability,
    seed,
    ms,
    since: new Date(since).toISOString(),
    ends: endOf(fault),
  };
}

/** Members of GET /status about faults. */
export function shownStatus(faults: Faults): {
  faults: Static<typeof StatusFaults>;
  key_faults: Static<typeof StatusKeyFaults>;
} {
  const all = faults.list();
  const rows = all.filter(({ owner }) => owner === undefined);
  const counts = FAULT_KINDS.map((kind) => ({
    kind,
    count: all.filter((fault) => fault.kind === kind && fault.owner !== undefined).length,
  }));
  return {
    faults: rows.map((fault) => ({
      id: fault.id,
      kind: fault.kind,
      of: TARGETS.find((one) => fault.target[one] !== undefined) ?? 'venue',
      phase: faults.phaseOf(fault).name,
      ends: endOf(fault),
    })),
    key_faults: counts.filter(({ count }) => count > 0),
  };
}

function endOf({ phases }: Fault): string | null {
  const { until } = phases.at(-1)!;
  return until === Infinity ? null : new Date(until).toISOString();
}
