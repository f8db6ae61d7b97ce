/**
 * The suite `catalog`: how fast it is served compared with a bare handler, what a large catalog
 * costs, and the effect of a new generation on a serving node. Figures and how to read them:
 * bench/README.md.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadProblem } from '../common/http-load.ts';
import type { VersusFigures, VersusOptions } from '../common/versus.ts';
import { catalogSearch, type SearchFigures } from './catalog-search.ts';
import { catalogSize, type SizeFigures } from './catalog-size.ts';
import { catalogSwitch, type SwitchFigures } from './catalog-switch.ts';
import { catalogThroughput } from './catalog-throughput.ts';

export interface CatalogScale {
  readonly throughput: {
    readonly markets: number;
    readonly warmUps: number;
    readonly rounds: number;
    readonly seconds: number;
    /** Names of the cases to run; all when empty. */
    readonly only: readonly string[];
  };
  readonly search: VersusOptions & { readonly markets: number };
  readonly size: { readonly markets: number; readonly rounds: number };
  readonly switching: {
    readonly markets: number;
    readonly rounds: number;
    readonly windowMs: number;
  };
}

export type CatalogPart = keyof CatalogScale;

export interface CatalogFigures {
  /** Undefined also where there is nothing to make the load with; so is `search`. */
  readonly throughput?: readonly VersusFigures[] | undefined;
  readonly search?: SearchFigures | undefined;
  readonly size?: SizeFigures;
  readonly switching?: SwitchFigures;
}

const SEED = 'catalog';

export const CATALOG_FULL: CatalogScale = {
  throughput: { markets: 5_000, warmUps: 1, rounds: 5, seconds: 2, only: [] },
  search: { markets: 50_000, warmUps: 1, rounds: 5, seconds: 2 },
  size: { markets: 50_000, rounds: 3 },
  switching: { markets: 5_000, rounds: 5, windowMs: 5_000 },
};

export async function catalogSuite(
  scale: CatalogScale,
  parts: readonly CatalogPart[] = ['throughput', 'search', 'size', 'switching'],
): Promise<CatalogFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-bench-'));
  const common = (part: CatalogPart) => ({ seed: SEED, dataDir: join(folder, part) });
  const has = (part: CatalogPart): boolean => parts.includes(part);
  try {
    return {
      ...(has('throughput') && hasLoad('throughput')
        ? { throughput: await catalogThroughput({ ...scale.throughput, ...common('throughput') }) }
        : {}),
      ...(has('search') && hasLoad('search')
        ? { search: await catalogSearch({ ...scale.search, ...common('search') }) }
        : {}),
      ...(has('size') ? { size: await catalogSize({ ...scale.size, ...common('size') }) } : {}),
      ...(has('switching')
        ? { switching: await catalogSwitch({ ...scale.switching, ...common('switching') }) }
        : {}),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function hasLoad(part: CatalogPart): boolean {
  const problem = loadProblem();
  if (problem !== undefined) process.stdout.write(`catalog ${part}: not run, ${problem}\n`);
  return problem === undefined;
}
