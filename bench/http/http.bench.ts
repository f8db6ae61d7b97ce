/**
 * The suite `http`: how fast the routes that read engine memory answer beside a bare handler that
 * sends the same bytes (../common/versus.ts). The requests of a case differ from one another. Figures
 * and how to read them: bench/README.md.
 *
 * Thread: the suite's only one. Non-goals: reads while others write, orders, streams.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../server/config/config.ts';
import type { BarePorts } from '../common/bare.ts';
import { Child } from '../common/child.ts';
import { type LoadRequest, loadProblem, SERVER_CORE } from '../common/http-load.ts';
import {
  printHead,
  runCase,
  type VersusCase,
  type VersusFigures,
  type VersusOptions,
} from '../common/versus.ts';
import { Random } from '../random.ts';
import { storeTradedMarkets, type TradedMarkets } from './market-store.ts';

export interface HttpScale extends VersusOptions {
  readonly markets: number;
  /** Names of the cases to run; all when empty. */
  readonly only: readonly string[];
}

const SEED = 'http';
/** Different requests of a case. */
const REQUESTS = 200;
const MANY = 20;

export const HTTP_FULL: HttpScale = { markets: 500, warmUps: 2, rounds: 5, seconds: 2, only: [] };

/** Undefined where there is nothing to make the load with. */
export async function httpSuite(scale: HttpScale): Promise<VersusFigures[] | undefined> {
  const problem = loadProblem();
  if (problem !== undefined) {
    process.stdout.write(`http: not run, ${problem}\n`);
    return undefined;
  }
  const dataDir = mkdtempSync(join(tmpdir(), 'http-bench-'));
  const environment = environmentOf(dataDir);
  const child = new Child(join(import.meta.dirname, 'http-node'), [], { core: SERVER_CORE });
  try {
    const read = readConfig(environment, ['--no-demo'], availableParallelism());
    if (!read.ok) throw new Error(read.problems.join('; '));
    const { capacities } = read.config;
    const { markets } = scale;
    const traded = await storeTradedMarkets({ dataDir, markets, seed: SEED, capacities });
    const ports = await child.ask<BarePorts>('open', environment);
    const cases = casesOf(traded).filter(
      ({ name }) => scale.only.length === 0 || scale.only.includes(name),
    );
    const { length } = traded.tokenIds;
    printHead(`http: ${length} tokens, ${traded.fills} fills, seed ${SEED}`, scale);
    const figures: VersusFigures[] = [];
    for (const each of cases) figures.push(await runCase(child, ports, each, scale));
    return figures;
  } finally {
    await child.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Tables of a modest size; no snapshot within a round. */
function environmentOf(dataDir: string): Readonly<Record<string, string>> {
  return {
    HOST: '127.0.0.1',
    PORT: '0',
    DATA_DIR: dataDir,
    DURABILITY: 'committed',
    WORKERS: '1',
    ACCOUNTS_MAX: '65536',
    ORDERS_MAX: '262144',
    ORDER_HISTORY: '65536',
    TRADES_MAX: '65536',
    IMAGE_SECONDS: '86400',
    RATE_LIMITS: 'off',
  };
}

function casesOf({ tokenIds, conditionIds, wallets }: TradedMarkets): readonly VersusCase[] {
  const random = new Random(`requests ${SEED}`);
  const times = (make: (index: number) => LoadRequest): LoadRequest[] =>
    Array.from({ length: REQUESTS }, (_, index) => make(index));
  const listOf = (count: number): string => {
    const chosen = new Set<string>();
    while (chosen.size < Math.min(count, tokenIds.length)) chosen.add(random.pick(tokenIds));
    return JSON.stringify([...chosen].map((token_id) => ({ token_id })));
  };
  const lists = (target: string, count: number): LoadRequest[] =>
    times(() => ({ target, body: listOf(count) }));
  const page = '/trades?limit=20';
  const answer = 'same' as const;
  const waits = true;
  const bodies: readonly VersusCase[] = [
    { name: 'books 1', requests: lists('/books', 1), aim: 80, answer },
    { name: 'books 20', requests: lists('/books', MANY), aim: 65, answer },
    { name: 'last prices 20', requests: lists('/last-trades-prices', MANY), aim: 65, answer },
  ];
  return [
    ...bodies,
    ...bodies.map(({ name, requests }) => ({ name: `${name}, waits`, requests, answer, waits })),
    {
      name: 'price',
      requests: times(() => ({ target: `/price?token_id=${random.pick(tokenIds)}&side=BUY` })),
      aim: 80,
      answer,
    },
    {
      name: 'trades',
      requests: times((index) => ({ target: `${page}&offset=${index}` })),
      aim: 60,
      answer,
    },
    {
      name: 'trades market',
      requests: times(() => ({ target: `${page}&market=${random.pick(conditionIds)}` })),
      answer,
    },
    {
      name: 'trades user',
      requests: times(() => ({ target: `${page}&user=${random.pick(wallets)}&takerOnly=false` })),
      answer,
    },
  ];
}
