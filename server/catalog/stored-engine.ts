/**
 * The engine of a data directory, for commands that change a catalog: registered markets, and the resting
 * orders that a new catalog cancels. Tables are rebuilt from log and snapshots, also beside a running node.
 *
 * Thread: a command-line tool. Nothing is written.
 */
import { existsSync } from 'node:fs';
import { commandWords } from '../../engine/commands.ts';
import { Engine } from '../../engine/engine.ts';
import { engineTime, openOrders } from '../../engine/reads.ts';
import type { Capacities } from '../../engine/tables/capacities.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { Catalog } from '../../storage/catalog/catalog-file.ts';
import { logDirectory } from '../../storage/log/file-log.ts';
import { rebuild } from '../../storage/recovery/rebuild.ts';
import { marketCommands } from './market-registry.ts';

/**
 * Tables as of the newest batch on disk; `undefined` = there is no log. Throws an Error where log
 * or snapshots are damaged.
 */
export function storedTables(dataDir: string, capacities: Capacities): Tables | undefined {
  return existsSync(logDirectory(dataDir)) ? rebuild({ dataDir, capacities }).t : undefined;
}

export function cancelledOrders(tables: Tables, { endedConditions, markets }: Catalog): number {
  const engine = new Engine(tables.memory);
  const before = openOrders(tables);
  engine.begin(engineTime(tables), 0);
  for (const i32 of marketCommands(tables, markets, () => undefined, endedConditions)) {
    const f64 = new Float64Array(i32.buffer);
    for (let at = 0; at < i32.length; at += commandWords(i32, at)) engine.apply(i32, f64, at);
  }
  engine.end();
  return before - openOrders(tables);
}
