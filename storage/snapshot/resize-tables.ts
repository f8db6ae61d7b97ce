/**
 * Copies tables to other capacities. Rows keep their numbers. What depends on a capacity is laid
 * out anew: the rings, whose rows are sequences modulo their length, the books, and the hash indexes.
 *
 * Capacities may grow between two runs, and never shrink below what is in use
 * (docs/protocol.md#full-tables).
 *
 * Thread: the I/O thread, before workers start.
 */

import { copyMatching, matchingUse } from '../../engine/book/matching.ts';
import { placesTaken } from '../../engine/orders/books.ts';
import { rebuildIndexes } from '../../engine/orders/rebuild.ts';
import type { Capacities } from '../../engine/tables/capacities.ts';
import { CLOSED_I, FILL_WORDS, Ledger, REQUEST_I, State } from '../../engine/tables/layout.ts';
import { allocateEngine, Tables, usedSpans } from '../../engine/tables/tables.ts';
import { TablesTooSmall } from './tables-too-small.ts';

/** Returns the same content in tables of these capacities. Throws TablesTooSmall, which names the table. */
export function resizeTables(t: Tables, capacities: Capacities): Tables {
  if (sameCapacities(t.capacities, capacities)) return t;
  checkRoom(t, capacities);
  const into = new Tables(allocateEngine(capacities));
  for (const { bytes, name, start } of usedSpans(t)) {
    // Their layout depends on the capacities; see below.
    if (name === 'finished' || name === 'operatorIds' || name.startsWith('matching')) continue;
    const source = t.memory.buffers[name].subarray(start, start + bytes);
    into.memory.buffers[name].set(source, start);
  }
  copyMatching(t.matching, into.matching, t.state[State.books]!);
  copyRing(t.closedI, into.closedI, 1 << CLOSED_I, t.state[State.closed]!);
  copyRing(t.fillI, into.fillI, FILL_WORDS, t.state[State.fills]!);
  const texts = t.ledger[Ledger.operatorIds]!;
  copyRing(t.operatorIdI, into.operatorIdI, 1 << REQUEST_I, texts);
  rebuildIndexes(into);
  return into;
}

function sameCapacities(a: Capacities, b: Capacities): boolean {
  return (
    a.markets === b.markets &&
    a.tokens === b.tokens &&
    a.accounts === b.accounts &&
    a.orders === b.orders &&
    a.levels === b.levels &&
    a.trades === b.trades &&
    a.history === b.history &&
    a.positions === b.positions &&
    a.operatorIds === b.operatorIds
  );
}

function checkRoom(t: Tables, capacities: Capacities): void {
  const { state } = t;
  const c = capacities;
  const use = matchingUse(t.matching);
  const problems: string[] = [];
  const needs = (what: string, used: number, room: number): void => {
    if (used > room) problems.push(`${used} ${what} are in use, more than the configured ${room}`);
  };
  needs('markets (MARKETS_MAX)', state[State.markets]!, c.markets);
  needs('tokens (TOKENS_MAX)', state[State.tokens]!, c.tokens);
  needs('accounts (ACCOUNTS_MAX)', state[State.accounts]!, c.accounts);
  needs('price levels (LEVELS_MAX)', use.levels, c.levels);
  // Rows never move, so the highest row ever used counts, whether it is in use or free.
  needs('rows of open orders (ORDERS_MAX)', use.orders, c.orders);
  needs('open and delayed orders (ORDERS_MAX)', placesTaken(t), c.orders);
  const rows = state[State.orderRows]!;
  // Rows never move, here neither.
  needs('positions (POSITIONS_MAX)', t.ledger[Ledger.positionRows]!, c.positions);
  needs('ids of operators (OPERATOR_IDS_MAX)', t.ledger[Ledger.operatorIdsMost]!, c.operatorIds);
  needs('rows of open and kept orders (ORDERS_MAX + ORDER_HISTORY)', rows, c.orders + c.history);
  if (problems.length > 0) throw new TablesTooSmall(`recovery: ${problems.join('; ')}`);
}

/** Copies the newest rows before sequence `end`, as many as fit into both rings. */
function copyRing(from: Int32Array, into: Int32Array, words: number, end: number): void {
  const fromRows = from.length / words;
  const intoRows = into.length / words;
  for (let n = Math.max(0, end - Math.min(fromRows, intoRows)); n < end; n++) {
    const source = (n % fromRows) * words;
    into.set(from.subarray(source, source + words), (n % intoRows) * words);
  }
}
