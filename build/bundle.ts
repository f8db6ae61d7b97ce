/**
 * Bundles the programs of the node into few large modules, from the compiler's output. Importing six hundred
 * small ones takes half of a start, and each worker thread imports its own again.
 *
 *   node dist/build/bundle.js     dist/{engine,storage,server} and packages -> dist/node
 *
 * A program lies below dist/node where it lies below dist, shared code in dist/node/chunks. Names stay as they
 * are, so that stack traces can be read. Nothing is written unless a source is newer than the bundle.
 */
import {
  cpSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { COMPILED, writeBundle } from './bundle-parts.ts';

const OUT = join(COMPILED, 'node');
/** Lists the files of the bundle; its time is that of the last build, because unchanged files stay old. */
const MARK = join(COMPILED, '.built');
/** Stands for the installed packages, whose files have the times of their publishers. */
const LOCK = join(COMPILED, '../package-lock.json');

/** Files that server/routes/viewer.ts serves. A user of the bundle does not install the package. */
const VIEWER = ['swagger-ui.css', 'swagger-ui-bundle.js', 'LICENSE', 'NOTICE'];
const VIEWER_PACKAGE = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/LICENSE'));

function isFresh(): boolean {
  const built = statSync(MARK, { throwIfNoEntry: false });
  if (built === undefined || !existsSync(OUT)) return false;
  const names = readFileSync(MARK, 'utf8').split('\n');
  const own = ['bundle.js', 'bundle-parts.js'].map((name) => join(import.meta.dirname, name));
  const files = [...own, ...names.map((name) => join(COMPILED, name))];
  if (existsSync(LOCK)) files.push(LOCK);
  return files.every((file) => existsSync(file) && statSync(file).mtimeMs < built.mtimeMs);
}

/** Renamed when it is complete. */
const draft = `${OUT}-${process.pid}`;

if (isFresh()) {
  const now = new Date();
  utimesSync(MARK, now, now);
} else {
  const files = await writeBundle(draft);
  for (const name of VIEWER) cpSync(join(VIEWER_PACKAGE, name), join(draft, 'viewer', name));
  rmSync(OUT, { recursive: true, force: true });
  renameSync(draft, OUT);
  writeFileSync(MARK, files.map((file) => relative(COMPILED, file)).join('\n'));
}
