/** Bodies of refusals without their texts for people, which must be present. */
import assert from 'node:assert/strict';

const DETAIL_MAX = 600;

/** @param json the body of a 400 or 401 */
export function plainRefusal(json: unknown): { error: string; code: string } {
  const { code, detail, error } = json as Readonly<Record<'code' | 'detail' | 'error', string>>;
  assert.match(code, /^[A-Z][A-Z0-9_]*$/, JSON.stringify(json));
  assert(detail.length > 0 && detail.length <= DETAIL_MAX, JSON.stringify(json));
  return { error, code };
}
