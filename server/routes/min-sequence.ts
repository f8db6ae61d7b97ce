/**
 * Reads that have to show a batch: they wait until this node has applied it, for a second at most. Rules:
 * docs/protocol.md#reading-an-own-write
 *
 * Thread: I/O.
 */
import { badRequest, type CatalogErrors } from '../catalog/parameters.ts';
import { errorBody, typedErrorBody } from '../common/error-bodies.ts';
import { REFUSALS } from '../common/refusals.ts';
import { RETRY_SOON } from '../common/unavailable.ts';
import { replyDataError } from '../data-v2/errors.ts';
import type { RequestContext, Route } from '../http/request-context.ts';
import type { Api } from '../http/route.ts';
import { MIN_SEQUENCE_HEADER } from '../http/sequence.ts';
import type { AppliedSequence } from '../orders/intake/applied-sequence.ts';

const WAIT_MS_MAX = 1_000;
/** 16 digits hold every value up to 2^53. */
const WHOLE = /^[0-9]{1,16}$/;

const RULE = `${MIN_SEQUENCE_HEADER} must be a whole number below 2^53, as X-Sequence gives it`;

interface Refusals {
  readonly invalid: (context: RequestContext) => void;
  readonly behind: (context: RequestContext) => void;
}

const refusals = (invalid: string, behind: string): Refusals => ({
  invalid: (context) => context.reply(400, invalid),
  behind: (context) => context.reply(503, behind, RETRY_SOON),
});
const PLAIN = refusals(
  errorBody('INVALID_FIELD', RULE, { text: `invalid_field: ${MIN_SEQUENCE_HEADER}` }),
  errorBody('NOT_APPLIED_YET'),
);
const OF_DATA: Refusals = {
  invalid: (context) => replyDataError(context, 'invalid_request', RULE, MIN_SEQUENCE_HEADER),
  behind: (context) =>
    replyDataError(context, 'dependency_unavailable', REFUSALS.NOT_APPLIED_YET.texts[0]),
};
const refusalsOf = (api: Api, errors: CatalogErrors): Refusals => {
  if (api === 'data-v2') return OF_DATA;
  if (api !== 'catalog') return PLAIN;
  return refusals(badRequest(RULE, errors), typedErrorBody('unavailable', 'NOT_APPLIED_YET'));
};

export function afterSequence(
  run: Route['run'],
  api: Api,
  applied: AppliedSequence,
  errors: CatalogErrors,
): Route['run'] {
  const { behind, invalid } = refusalsOf(api, errors);
  const wait = async (context: RequestContext, sequence: number): Promise<void> => {
    const isApplied = await applied.when(sequence, WAIT_MS_MAX);
    return isApplied ? run(context) : behind(context);
  };
  return (context) => {
    const { minSequence } = context;
    if (minSequence === '') return run(context);
    const sequence = WHOLE.test(minSequence) ? Number(minSequence) : Number.NaN;
    if (!Number.isSafeInteger(sequence)) return invalid(context);
    if (sequence <= applied.newest) return run(context);
    // After a wait the path is no longer available.
    void context.path;
    return wait(context, sequence);
  };
}
