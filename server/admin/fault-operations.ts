/**
 * Operations on faults of a running node. Rules: docs/protocol.md#faults
 *
 * Thread: I/O.
 */
import { ledgerIsOn } from '../../engine/ledger/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { Type } from '../common/schema.ts';
import { shownFault, specOf } from '../faults/fault-input.ts';
import {
  ClearedAnswer,
  FaultAnswer,
  FaultKindSchema,
  FaultsAnswer,
  faultMembers,
} from '../faults/fault-schemas.ts';
import { type Faults, isOfVenue } from '../faults/faults.ts';
import { FAULT_BOUNDS, faultRow } from '../faults/kinds.ts';
import { text } from '../routes/shorthand.ts';
import { LEDGER_OFF } from './ledger-operations.ts';
import { operation, refused, refusedField } from './operation-row.ts';
import { inputOf, KeyId, NoInput, WalletRef } from './operation-schemas.ts';
import { MarketRef } from './venue-schemas.ts';

interface FaultOperationParts {
  /** `undefined` with FAULTS=off. */
  readonly faults: Faults | undefined;
  readonly isCluster: boolean;
  readonly t: Tables;
}

const OFF = refused('FAULTS_OFF', 'start the node with FAULTS=operator, or on');

const FaultInput = inputOf({
  kind: FaultKindSchema,
  key: Type.Optional(KeyId),
  wallet: Type.Optional(WalletRef),
  market: Type.Optional(MarketRef),
  ...faultMembers(FAULT_BOUNDS.operator),
});
const ClearInput = inputOf({ id: Type.Optional(text('the id of a fault', { maxLength: 32 })) });

export const FAULT_OPERATIONS = [
  operation(
    'GET /admin/faults',
    { does: 'faults in force, those of keys too', input: NoInput, answer: FaultsAnswer },
    ({ faults }: FaultOperationParts) =>
      () => {
        if (faults === undefined) return OFF;
        return { faults: faults.list().map((fault) => shownFault(faults, fault)) };
      },
  ),
  operation(
    'POST /admin/faults',
    {
      does: 'makes a fault for a key, a wallet, a market or everybody, until its count, its seconds or a clear',
      input: FaultInput,
      answer: FaultAnswer,
    },
    ({ faults, isCluster, t }: FaultOperationParts) =>
      async (input) => {
        if (faults === undefined) return OFF;
        const spec = specOf(input);
        if ('member' in spec) return refusedField(spec.member, spec.rule);
        if (isCluster && !isOfVenue(spec)) {
          return refused('NOT_IN_A_CLUSTER', `${spec.kind} with a target, or of one node`);
        }
        if (faultRow(spec.kind).decides === true && !ledgerIsOn(t)) return LEDGER_OFF;
        if (!faults.hasRoom(undefined)) return refused('TOO_MANY_FAULTS');
        return shownFault(faults, await faults.add(spec));
      },
  ),
  operation(
    'POST /admin/faults/clear',
    {
      does: 'ends all faults with all their phases, or the one of that `id`',
      input: ClearInput,
      answer: ClearedAnswer,
    },
    ({ faults }: FaultOperationParts) =>
      async ({ id }) => {
        if (faults === undefined) return OFF;
        const cleared = await faults.clear(id);
        return id !== undefined && cleared === 0 ? refused('UNKNOWN_FAULT') : { cleared };
      },
  ),
];
