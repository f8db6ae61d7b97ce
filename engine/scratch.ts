/**
 * Engine at the position of another one in the log, without its books: computes the result of a command that
 * changes only settings before it is applied.
 */
import { Engine } from './engine.ts';
import type { Capacities } from './tables/capacities.ts';
import { State } from './tables/layout.ts';
import { allocateEngine, type Tables } from './tables/tables.ts';

const TINY: Capacities = {
  markets: 1,
  tokens: 1,
  accounts: 1,
  orders: 1,
  levels: 1_024,
  trades: 1,
  history: 1,
  positions: 1,
  operatorIds: 1,
};
const PLACE = [State.batch, State.time, State.digest, State.ledger];

export function scratchEngine({ state }: Pick<Tables, 'state'>): Engine {
  const scratch = new Engine(allocateEngine(TINY));
  for (const word of PLACE) scratch.t.state[word] = state[word]!;
  return scratch;
}
