/**
 * Routes by which an API key makes faults for its own requests and streams, where FAULTS=on.
 * Rules: docs/protocol.md#faults
 *
 * Thread: I/O.
 */
import type { KeyOwner } from '../auth/auth.ts';
import { bodyFault } from '../common/body-fault.ts';
import { errorBody } from '../common/error-bodies.ts';
import { readJson } from '../common/json.ts';
import { boundsOf } from '../common/json-measure.ts';
import { REFUSALS } from '../common/refusals.ts';
import { compileShape } from '../common/schema.ts';
import type { RequestContext } from '../http/http.ts';
import { type RouteSettings, route } from '../http/route.ts';
import { shownFault, specOf } from './fault-input.ts';
import {
  ClearedAnswer,
  ClearFaultBody,
  FaultAnswer,
  FaultsAnswer,
  KeyFaultBody,
} from './fault-schemas.ts';
import type { Faults } from './faults.ts';

/** Parts of the routes; `faults` is there wherever they are served. */
export interface FaultRouteParts {
  readonly faults: Faults | undefined;
  readonly isCluster: boolean;
}

const BOUNDS = boundsOf(1);
const keyFaultBody = compileShape(KeyFaultBody);
const clearFaultBody = compileShape(ClearFaultBody);

const served = ({ faults }: RouteSettings): boolean => faults === 'on';

export const FAULT_ROUTES = [
  route(
    'GET /faults',
    {
      access: 'level2',
      answer: FaultsAnswer,
      served,
      does: 'faults that the calling key has made',
    },
    ({ faults }: FaultRouteParts) =>
      (context, _query, { apiKey }) => {
        const own = faults!.list(apiKey).map((fault) => shownFault(faults!, fault));
        context.reply(200, JSON.stringify({ faults: own }));
      },
  ),
  route(
    'POST /faults',
    {
      access: 'level2',
      limits: ['faults', 'trading'],
      body: KeyFaultBody,
      bodyBounds: BOUNDS,
      answer: FaultAnswer,
      conflicts: true,
      served,
      does: 'makes a fault for requests and streams of the calling key: `{"kind", "count", "seconds", ..}`',
    },
    (parts: FaultRouteParts) => (context, _query, caller) =>
      readJson(context, BOUNDS, (sent) => make(parts, context, caller, sent)),
  ),
  route(
    'DELETE /faults',
    {
      access: 'level2',
      limits: ['faults', 'trading'],
      body: ClearFaultBody,
      bodyBounds: BOUNDS,
      answer: ClearedAnswer,
      served,
      does: 'ends faults of the calling key: all, or the one of `{"id": ".."}`',
    },
    (parts: FaultRouteParts) => (context, _query, caller) =>
      context.body.length === 0
        ? clear(parts, context, caller, {})
        : readJson(context, BOUNDS, (sent) => clear(parts, context, caller, sent)),
  ),
];

async function make(
  { faults, isCluster }: FaultRouteParts,
  context: RequestContext,
  { apiKey }: KeyOwner,
  sent: unknown,
): Promise<void> {
  if (!keyFaultBody.matches(sent)) {
    return context.reply(400, bodyFault(KeyFaultBody, keyFaultBody.fault(sent)));
  }
  // Unknown members are ignored, and `wallet` is one.
  const spec = specOf({ ...sent, key: apiKey, wallet: undefined });
  if ('member' in spec) return refuse(context, spec.member, spec.rule);
  if (spec.count === undefined && spec.seconds === undefined) {
    return refuse(context, 'count', 'a fault of a key needs count or seconds');
  }
  if (isCluster) {
    const { status } = REFUSALS.NOT_IN_A_CLUSTER;
    return context.reply(status, errorBody('NOT_IN_A_CLUSTER', `${spec.kind} of a key`));
  }
  if (!faults!.hasRoom(apiKey)) {
    return context.reply(REFUSALS.TOO_MANY_FAULTS.status, errorBody('TOO_MANY_FAULTS'));
  }
  const fault = await faults!.add(spec, apiKey);
  context.reply(200, JSON.stringify(shownFault(faults!, fault)));
}

async function clear(
  { faults }: FaultRouteParts,
  context: RequestContext,
  { apiKey }: KeyOwner,
  sent: unknown,
): Promise<void> {
  if (!clearFaultBody.matches(sent)) {
    return context.reply(400, bodyFault(ClearFaultBody, clearFaultBody.fault(sent)));
  }
  const cleared = await faults!.clear(sent.id, apiKey);
  context.reply(200, JSON.stringify({ cleared }));
}

function refuse(context: RequestContext, member: string, rule: string): void {
  context.reply(400, errorBody('INVALID_FIELD', rule, { text: `invalid_field: ${member}` }));
}
