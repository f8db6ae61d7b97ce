/** `npm run bench -- [suite ...]`: runs the named suites, or all of them. */
import { engineSuite } from './engine.bench.ts';
import { printMachine } from './harness.ts';
import { validateSuite } from './validate.bench.ts';

const MESSAGES = 200_000;
const BLOCKS = 10;

const suites: Readonly<Record<string, () => Promise<unknown>>> = {
  engine: () => engineSuite(MESSAGES, BLOCKS),
  validate: () => validateSuite(2_000, 3 * BLOCKS),
};

const names = process.argv.slice(2);
const unknown = names.filter((name) => !(name in suites));
if (unknown.length > 0) {
  process.stderr.write(
    `no suite ${unknown.join(', ')}; there is ${Object.keys(suites).join(', ')}\n`,
  );
  process.exit(2);
}
printMachine('fixed, by suite');
for (const name of names.length > 0 ? names : Object.keys(suites)) await suites[name]!();
