/**
 * The markets of an event, for those who know markets by their condition ids alone.
 *
 * Thread: the I/O thread.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PreparedCatalog } from './prepared.ts';
import { rowOfId } from './select.ts';

const ID = /^(?:0|[1-9]\d{0,14})$/;

/** Markets that are read between two turns of the event loop: each is parsed, in some 20 us. */
const MARKETS_PER_TURN = 64;

/** Condition ids of an event's markets, in the order of the catalog; none where there is no such event. */
export async function conditionsOfEvent(prepared: PreparedCatalog, id: string): Promise<string[]> {
  const { bytes, events, markets } = prepared;
  const row = ID.test(id) ? rowOfId(events.ids, Number(id)) : -1;
  const conditions: string[] = [];
  if (row === -1) return conditions;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { ends, values } = events.markets;
  for (const market of values.subarray(ends[row]!, ends[row + 1]!)) {
    if (conditions.length % MARKETS_PER_TURN === MARKETS_PER_TURN - 1) await nextTurn();
    const core = text.toString('utf8', markets.coreStart[market]!, markets.coreEnd[market]!);
    conditions.push((JSON.parse(`${core}}`) as { readonly conditionId: string }).conditionId);
  }
  return conditions;
}
