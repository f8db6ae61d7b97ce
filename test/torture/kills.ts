/**
 * Kill -9 at random moments of a real load, while snapshots are written, segments change and
 * catalogs are switched. The load tool's own books, and those of a trader who cancels, are the
 * expected state. Half of the nodes have a ledger; after each kill the directory is verified.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { chooseMarkets } from '../../bench/load/load-market.ts';
import { parseOptions } from '../../bench/load/load-options.ts';
import { LoadRun } from '../../bench/load/load-run.ts';
import { Random as LoadRandom } from '../../bench/random.ts';
import { readConfig } from '../../server/config/config.ts';
import { useCompiledNodes } from '../common/forms.ts';
import {
  catalogFile,
  type MarketTerms,
  SMALL_NODE,
  temporaryDirectory,
} from '../common/node-harness.ts';
import { Random } from '../common/random.ts';
import { FAUCET, verified, WITH_LEDGER } from '../common/verified.ts';
import { CancelBooks } from './cancel-books.ts';
import { writeCatalog } from './catalog-change.ts';
import { type Done, Pace, type PartOptions, seedOf, withRoundSeed } from './part.ts';

const ROUND_KILLS = 20;
const ORDERS_PER_KILL = 22;
/** Snapshots and segments change all the time. */
const SETTINGS = { ...SMALL_NODE, IMAGE_BATCHES: '4', LOG_SEGMENT_BYTES: '65536' };
const CATALOG_MS_MAX = 5_000;
const CANCEL_MS_MAX = 60;
/** A market of every kind for the load, and one for the cancels. */
const MARKETS: readonly MarketTerms[] = [
  { id: 1 },
  { id: 2, tick: 0.001 },
  { id: 3, tick: 0.1, negRisk: true },
  { id: 4, tick: 0.0001, minSize: 1 },
  { id: 5, outcomes: ['A', 'B', 'C'] },
  { id: 6, tick: 0.005, negRisk: true },
  { id: 7, tick: 0.0025 },
];

export async function kills(options: PartOptions): Promise<Done> {
  const pace = new Pace(options, 'kills');
  const sums = { rounds: 0, ledgers: 0, told: 0, lost: 0, catalogs: 0 };
  for (let more = true; more; sums.rounds += 1) {
    const count = Math.min(ROUND_KILLS, options.goal);
    const round = await withRoundSeed('kills', seedOf(options.seed, sums.rounds), (seed) =>
      runRound(seed, count),
    );
    sums.ledgers += round.hasLedger ? 1 : 0;
    sums.told += round.told;
    sums.lost += round.lost;
    sums.catalogs += round.catalogs;
    more = pace.goesOn(round.killed);
  }
  const { catalogs, ledgers, lost, rounds, told } = sums;
  return pace.done(
    `${rounds} nodes, ${ledgers} of them with a ledger, ${pace.count * ORDERS_PER_KILL} orders of the load and ${told} that were ` +
      `placed and cancelled beside it (${lost} answers lost), ${catalogs} catalogs switched`,
  );
}

interface Round {
  readonly hasLedger: boolean;
  readonly killed: number;
  readonly told: number;
  readonly lost: number;
  readonly catalogs: number;
}

async function runRound(seed: number, count: number): Promise<Round> {
  const random = new Random(seed);
  const text = String(seed);
  const orders = String(count * ORDERS_PER_KILL);
  const args = ['--orders', orders, '--batch', '5', '--kills', String(count), '--seed', text];
  const parsed = parseOptions([...args, '--run', `1${text}`], 0);
  const hasLedger = random.chance(50);
  const environment = hasLedger ? { ...SETTINGS, ...WITH_LEDGER } : SETTINGS;
  const configured = readConfig(environment, [], 1);
  assert(parsed.ok && configured.ok);
  const root = useCompiledNodes();
  /** The load tool starts nodes in the form in which it runs itself. */
  const { LocalNode } = (await import(
    join(root, 'bench/load/load-node.js')
  )) as typeof import('../../bench/load/load-node.ts');
  const dataDir = temporaryDirectory();
  const catalog = await writeCatalog(dataDir, catalogFile(MARKETS), 0);
  const chosen = chooseMarkets(catalog.markets, MARKETS.length, new LoadRandom(text));
  const own = chosen.pop()!;
  const market = catalog.markets.find(({ conditionId }) => conditionId === own.conditionId)!;
  const { config } = configured;
  const node = await LocalNode.start(dataDir, {
    demo: false,
    environment: environment,
    flags: [],
    hasAdmin: hasLedger,
    whileDown: () => verified(dataDir, environment),
  });
  const place = { port: Number(node.url.port), ready: () => node.ready() };
  const books = await CancelBooks.open(place, market, random, hasLedger ? FAUCET : 0);
  const state = { isOver: false, catalogs: 0 };
  const cancelling = whileLoading(state, async () => {
    await books.round();
    await pause(random.below(CANCEL_MS_MAX));
  });
  const switching = whileLoading(state, async () => {
    await pause(random.below(CATALOG_MS_MAX));
    await writeCatalog(dataDir, catalogFile(MARKETS), ++state.catalogs);
  });
  let log = '';
  let killed = 0;
  const load = new LoadRun(parsed.options, config, chosen, node, (words) => {
    log += words;
  });
  try {
    const agrees = await load.run();
    assert(agrees, log);
    killed = log.match(/kill -9 after/g)?.length ?? 0;
    // The load may end while the last one is still looked at.
    assert(killed >= Math.floor(count / 2), log);
    state.isOver = true;
    await Promise.all([cancelling, switching]);
    await books.check();
    assert.equal(await node.stop(), 0);
    await verified(dataDir, environment);
  } finally {
    state.isOver = true;
    await Promise.allSettled([cancelling, switching]);
    await node.stop();
  }
  return { killed, hasLedger, told: books.told.size, lost: books.lost, catalogs: state.catalogs };
}

async function whileLoading(
  state: { readonly isOver: boolean },
  body: () => Promise<void>,
): Promise<void> {
  while (!state.isOver) await body();
}
