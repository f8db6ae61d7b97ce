/** Routes that faults may strike. Rules: docs/protocol.md#faults. Thread: any; pure. */
import type { RouteRow } from '../http/route.ts';
import type { Covered } from './kinds.ts';

/** @param row with the group of its list */
export function coveredBy(key: string, row: RouteRow | undefined): ReadonlySet<Covered> {
  const covered = new Set<Covered>();
  if (row === undefined) return covered;
  const { access, group, places } = row;
  if (places === true) covered.add('placing');
  if (places === true || (group === 'orders' && key.startsWith('DELETE '))) covered.add('orders');
  if (access.startsWith('level2') && !key.endsWith(' /faults')) covered.add('signed');
  if (key === 'GET /book' || key === 'POST /books') covered.add('books');
  if (key === 'GET /time') covered.add('time');
  return covered;
}
