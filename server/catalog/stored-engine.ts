/**
 * The engine as the files of a directory have it, for commands that change a catalog: which markets are registered,
 * and how many resting orders a new catalog cancels. The tables are rebuilt from log and snapshots, also beside a
 * running node.
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

/** As of the newest batch on disk; undefined = there is no log. Throws an Error where log or snapshots are damaged. */
export function storedTables(dataDir: string, capacities: Capacities): Tables | undefined {
  return existsSync(logDirectory(dataDir)) ? rebuild({ dataDir, capacities }).t : undefined;
}

/** @param t gets the commands that the node would give itself */
export function cancelledOrders(t: Tables, { endedConditions, markets }: Catalog): number {
  const engine = new Engine(t.memory);
  const before = openOrders(t);
  engine.begin(engineTime(t), 0);
  for (const i32 of marketCommands(t, markets, () => undefined, endedConditions)) {
    const f64 = new Float64Array(i32.buffer);
    for (let at = 0; at < i32.length; at += commandWords(i32, at)) engine.apply(i32, f64, at);
  }
  engine.end();
  return before - openOrders(t);
}
