/**
 * Bundles the programs of the node into few large modules, from the compiler's output. Importing six hundred
 * small ones takes half of a start, and each worker thread imports its own again.
 *
 *   node dist/build/bundle.js     in the folder of package.json
 *                                 dist/{engine,storage,server} and packages -> dist/node
 *                                 dist/page, server/page and packages       -> dist/node/{app,desk}
 *
 * A program lies below dist/node where it lies below dist, shared code in dist/node/chunks. Names stay as they
 * are, so that stack traces can be read. Neither is written unless a source is newer than it.
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
import { PAGES, writePage } from './page-files.ts';

const OUT = join(COMPILED, 'node');
/** Stands for the installed packages, whose files have the times of their publishers. */
const LOCK = join(COMPILED, '../package-lock.json');

/** Files that server/routes/viewer.ts serves. A user of the bundle does not install the package. */
const VIEWER = ['swagger-ui.css', 'swagger-ui-bundle.js', 'LICENSE', 'NOTICE'];
const VIEWER_PACKAGE = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/LICENSE'));

interface Part {
  readonly out: string;
  /** Lists the files that it is made of; its time is that of the last build, because unchanged files stay old. */
  readonly mark: string;
  /** Compiled modules of this folder that make it. */
  readonly makers: readonly string[];
  /** Writes it into a folder. Returns the files that it is made of. */
  readonly write: (dir: string) => Promise<readonly string[]>;
}

const NODE: Part = {
  out: OUT,
  mark: join(COMPILED, '.built'),
  makers: ['bundle', 'bundle-parts'],
  async write(dir) {
    const files = await writeBundle(dir);
    for (const name of VIEWER) cpSync(join(VIEWER_PACKAGE, name), join(dir, 'viewer', name));
    for (const { out } of PAGE_PARTS) {
      if (existsSync(out)) renameSync(out, join(dir, relative(OUT, out)));
    }
    return files;
  },
};

/** For server/common/built-page.ts. */
const PAGE_PARTS = PAGES.map(
  (page): Part => ({
    out: join(OUT, page),
    mark: join(COMPILED, `.built-${page}`),
    makers: ['bundle', 'bundle-parts', 'minify', 'page-files'],
    write: (dir) => writePage(page, dir),
  }),
);

function isFresh({ makers, mark, out }: Part): boolean {
  const built = statSync(mark, { throwIfNoEntry: false });
  if (built === undefined || !existsSync(out)) return false;
  const names = readFileSync(mark, 'utf8').split('\n');
  const own = makers.map((name) => join(import.meta.dirname, `${name}.js`));
  const files = [...own, ...names.map((name) => join(COMPILED, name))];
  if (existsSync(LOCK)) files.push(LOCK);
  return files.every((file) => existsSync(file) && statSync(file).mtimeMs < built.mtimeMs);
}

async function make(part: Part): Promise<void> {
  const { mark, out } = part;
  if (isFresh(part)) {
    const now = new Date();
    utimesSync(mark, now, now);
    return;
  }
  /** Renamed when it is complete. */
  const draft = `${OUT}-${process.pid}`;
  const files = await part.write(draft);
  rmSync(out, { recursive: true, force: true });
  renameSync(draft, out);
  writeFileSync(mark, files.map((file) => relative(COMPILED, file)).join('\n'));
}

await make(NODE);
for (const part of PAGE_PARTS) await make(part);
