/**
 * The speed of searches in a large catalog beside a bare handler: of questions that were asked before,
 * of questions that are new, and the latency of a new question of one letter.
 *
 * Thread: the suite's only one. Non-goals: filters and orders of a search; loading the index
 * (catalog-size.ts).
 */
import { join } from 'node:path';
import type { BarePorts } from '../common/bare.ts';
import { Child } from '../common/child.ts';
import { type LoadFigures, runLoad, SERVER_CORE } from '../common/http-load.ts';
import { printHead, runCase, type VersusFigures, type VersusOptions } from '../common/versus.ts';
import { Random } from '../random.ts';
import { type GeneratedCatalog, generateCatalog } from './catalog-generator.ts';
import { storeCatalog } from './catalog-store.ts';

export interface SearchOptions extends VersusOptions {
  readonly markets: number;
  readonly seed: string;
  readonly dataDir: string;
}

export interface SearchFigures {
  readonly cases: readonly VersusFigures[];
  readonly letters: LoadFigures;
}

/** Questions that are asked again and again, and more of them than a node keeps answers. */
const REPEATED = 200;
const DIFFERENT = 1_500;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const LETTER_AIM_MS = 5;

export async function catalogSearch(options: SearchOptions): Promise<SearchFigures> {
  const catalog = generateCatalog(options.markets, options.seed);
  await storeCatalog(options.dataDir, catalog);
  const child = new Child(join(import.meta.dirname, 'catalog-bare'), [], { core: SERVER_CORE });
  try {
    const ports = await child.ask<BarePorts>('open', options.dataDir);
    printHead(`catalog search: ${options.markets} markets, seed ${options.seed}`, options);
    const random = new Random(`questions ${options.seed}`);
    const cases: VersusFigures[] = [];
    for (const [name, count, aim] of [
      ['search', REPEATED, 60],
      ['search new', DIFFERENT, undefined],
    ] as const) {
      const requests = requestsOf(questions(catalog, random, count));
      const wanted = {
        name,
        requests,
        answer: 'same',
        ...(aim === undefined ? {} : { aim }),
      } as const;
      cases.push(await runCase(child, ports, wanted, options));
    }
    const letters = await runLoad({
      port: ports.product,
      requests: requestsOf(newLetters()),
      seconds: options.seconds,
      connections: 1,
    });
    const [p50, p99] = [letters.p50Us, letters.p99Us].map((us) => (us / 1_000).toFixed(2));
    process.stdout.write(
      `a new question of one letter: p50 ${p50} ms, p99 ${p99} ms, aim ${LETTER_AIM_MS} ms\n`,
    );
    return { cases, letters };
  } finally {
    await child.stop();
  }
}

function requestsOf(texts: readonly string[]) {
  return texts.map((text) => ({ target: `/public-search?q=${encodeURIComponent(text)}` }));
}

/** One to three words of a title, as they are typed: the last one may be incomplete. */
function questions(catalog: GeneratedCatalog, random: Random, count: number): readonly string[] {
  const texts = new Set<string>();
  while (texts.size < Math.min(count, catalog.events.length)) {
    const words = random.pick(catalog.events).title.replace('?', '').split(' ');
    const start = random.below(words.length);
    const text = words.slice(start, start + random.between(1, 3)).join(' ');
    texts.add(text.slice(0, Math.max(3, text.length - random.below(4))));
  }
  return [...texts];
}

/** The letters in turn, each time behind another number of blanks, which make it another question. */
function newLetters(): readonly string[] {
  const turns = Math.ceil(DIFFERENT / LETTERS.length);
  return Array.from({ length: turns }, (_, blanks) =>
    [...LETTERS].map((letter) => ' '.repeat(blanks) + letter),
  ).flat();
}
