/**
 * The recorded catalog of another service, where it is there. Every object and list is served as a
 * plain scan of the file shows it.
 */
import test from 'node:test';
import { SHORT } from '../common/random.ts';
import { NO_REAL_FILE, realCatalog } from './catalog-fixture.ts';
import { askAll, judgeAnswer } from './catalog-judge.ts';
import { serveCatalog } from './catalog-server.ts';
import { SURVEY } from './catalog-survey.ts';
import { readNaive } from './naive-catalog.ts';

const file = SHORT === false ? realCatalog() : undefined;
const real = file === undefined ? undefined : { file, naive: readNaive(file) };

for (const [name, targetsOf] of Object.entries(SURVEY)) {
  test(name, { skip: SHORT }, async (t) => {
    if (real === undefined) return t.skip(NO_REAL_FILE);
    const { port } = await serveCatalog(real.file, t);
    await askAll(port, targetsOf(real.naive), (target, answer) =>
      judgeAnswer(real.naive, target, answer),
    );
  });
}
