/**
 * Reads every value of the environment in a directory (lmdb-file.ts). Ends with exit code 0 when
 * all could be read.
 */
import { openTable, openUnchecked } from './lmdb.ts';

const path = process.argv[2]!;
const root = openUnchecked({ path, durability: 'flushed', readOnly: true });
let bytes = 0;
// The names first: opening a table ends the transaction of an iteration that is under way.
for (const name of [...root.getKeys()]) {
  for (const { value } of openTable(root, name).getRange()) bytes += value.length;
}
await root.close();
process.stdout.write(`${bytes}\n`);
