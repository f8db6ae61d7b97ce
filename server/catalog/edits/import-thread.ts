/**
 * The thread of one import of a catalog by the operator of a running node: the command `catalog import`, with its
 * lines as the result. It compares the file with the engine's tables of the newest batch on disk.
 */
import assert from 'node:assert/strict';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { parentPort, workerData } from 'node:worker_threads';
import type { Capacities } from '../../../engine/tables/capacities.ts';
import { openCatalog } from '../../../storage/catalog/catalog.ts';
import type { Durability } from '../../../storage/kv/lmdb.ts';
import { Output } from '../../common/terminal.ts';
import { type ImportOptions, importFile } from '../catalog-command.ts';

export interface ImportSetup {
  readonly dataDir: string;
  readonly durability: Durability;
  readonly capacities: Capacities;
  readonly ownConditions: ReadonlySet<string>;
  readonly file: Uint8Array;
  readonly options: ImportOptions;
}

/** `generation` is 0 where nothing was written. */
export interface ImportResult {
  readonly done: boolean;
  readonly report: readonly string[];
  readonly problems: readonly string[];
  readonly generation: number;
}

assert(parentPort !== null, 'this file is the entry of a thread');
const { file, options, ...setup } = workerData as ImportSetup;
const [stdout, stderr] = [new PassThrough(), new PassThrough()];
const texts = Promise.all([text(stdout), text(stderr)]);
const done = await importFile('-', options, {
  ...setup,
  isNode: true,
  stdin: Readable.from([Buffer.from(file)]),
  stdout: new Output(stdout, {}),
  stderr: new Output(stderr, {}),
});
stdout.end();
stderr.end();
const [report, problems] = (await texts).map((lines) => lines.split('\n').slice(0, -1));
const isWritten = done && options.isDryRun !== true;
const generation = isWritten ? await currentGeneration() : 0;
const result: ImportResult = { done, report: report!, problems: problems!, generation };
parentPort.postMessage(result);

async function currentGeneration(): Promise<number> {
  const store = openCatalog(setup.dataDir, { durability: setup.durability, readOnly: true });
  const current = store.current() ?? 0;
  await store.close();
  return current;
}
