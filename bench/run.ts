/** `npm run bench -- [suite ...]`: runs the named suites, or all of them. */
import { CATALOG_FULL, catalogSuite } from './catalog/catalog.bench.ts';
import { engineSuite } from './engine/engine.bench.ts';
import { printMachine } from './harness.ts';
import { HTTP_FULL, httpSuite } from './http/http.bench.ts';
import { limitsSuite } from './server/limits.bench.ts';
import { validateSuite } from './server/validate.bench.ts';
import { STREAMS_FULL, streamsSuite } from './streams/streams.bench.ts';

const MESSAGES = 200_000;
const BLOCKS = 10;

const suites: Readonly<Record<string, () => Promise<unknown>>> = {
  engine: () => engineSuite(MESSAGES, BLOCKS),
  validate: () => validateSuite(2_000, 3 * BLOCKS),
  limits: () => limitsSuite(20_000, 3 * BLOCKS),
  catalog: () => catalogSuite(CATALOG_FULL),
  http: () => httpSuite(HTTP_FULL),
  streams: () => streamsSuite(STREAMS_FULL),
};

/** Parts of a suite, by name only. */
const parts: typeof suites = {
  'catalog-throughput': () => catalogSuite(CATALOG_FULL, ['throughput']),
  'catalog-size': () => catalogSuite(CATALOG_FULL, ['size']),
  'catalog-switch': () => catalogSuite(CATALOG_FULL, ['switching']),
};

const known = { ...suites, ...parts };
const names = process.argv.slice(2);
const unknown = names.filter((name) => !(name in known));
if (unknown.length > 0) {
  process.stderr.write(
    `no suite ${unknown.join(', ')}; there is ${Object.keys(known).join(', ')}\n`,
  );
  process.exit(2);
}
printMachine('fixed, by suite');
for (const name of names.length > 0 ? names : Object.keys(suites)) await known[name]!();
