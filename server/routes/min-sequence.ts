/**
 * Reads that have to show a batch: they wait until this node has applied it, for a second at most. Rules:
 * docs/protocol.md#reading-an-own-write
 *
 * Thread: I/O.
 */
import { badRequest, type CatalogErrors } from '../catalog/parameters.ts';
import { errorBody, typedErrorBody } from '../common/error-bodies.ts';
import { RETRY_SOON } from '../common/unavailable.ts';
import type { RequestContext, Route } from '../http/request-context.ts';
import type { Api } from '../http/route.ts';
import { MIN_SEQUENCE_HEADER } from '../http/sequence.ts';
import type { AppliedSequence } from '../orders/intake/applied-sequence.ts';

const WAIT_MS_MAX = 1_000;
/** 16 digits hold every value up to 2^53. */
const WHOLE = /^[0-9]{1,16}$/;

const RULE = `${MIN_SEQUENCE_HEADER} must be a whole number below 2^53, as X-Sequence gives it`;

interface Bodies {
  readonly invalid: string;
  readonly behind: string;
}

const PLAIN: Bodies = {
  invalid: errorBody('INVALID_FIELD', RULE, { text: `invalid_field: ${MIN_SEQUENCE_HEADER}` }),
  behind: errorBody('NOT_APPLIED_YET'),
};
const ofCatalog = (errors: CatalogErrors): Bodies => ({
  invalid: badRequest(RULE, errors),
  behind: typedErrorBody('unavailable', 'NOT_APPLIED_YET'),
});

/** Calls `run` once the batch named by the request is applied. */
export function afterSequence(
  run: Route['run'],
  api: Api,
  applied: AppliedSequence,
  errors: CatalogErrors,
): Route['run'] {
  const bodies = api === 'catalog' ? ofCatalog(errors) : PLAIN;
  const wait = async (context: RequestContext, sequence: number): Promise<void> => {
    const isApplied = await applied.when(sequence, WAIT_MS_MAX);
    return isApplied ? run(context) : context.reply(503, bodies.behind, RETRY_SOON);
  };
  return (context) => {
    const { minSequence } = context;
    if (minSequence === '') return run(context);
    const sequence = WHOLE.test(minSequence) ? Number(minSequence) : Number.NaN;
    if (!Number.isSafeInteger(sequence)) return context.reply(400, bodies.invalid);
    if (sequence <= applied.newest) return run(context);
    // After a wait the path is no longer available.
    void context.path;
    return wait(context, sequence);
  };
}
