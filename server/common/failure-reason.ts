/**
 * Reason of a failed request, in words for a person. `fetch` says `fetch failed` and hides the reason in the causes of its
 * error; where a name has several addresses, one cause holds an error for each.
 *
 * Pure; any thread.
 */

/** Causes of causes that are followed. */
const DEPTH_MAX = 8;

export function failureReason(error: unknown): string {
  let found = error;
  for (let depth = 0; depth < DEPTH_MAX; depth++) {
    const { cause } = found as { readonly cause?: unknown };
    if (!(cause instanceof Error)) break;
    found = cause;
  }
  if (found instanceof AggregateError) {
    const each = found.errors.map((one) => failureReason(one));
    return [...new Set(each)].join(', ');
  }
  return found instanceof Error ? found.message : String(found);
}
