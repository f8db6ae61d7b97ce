/**
 * Eight workers that are delayed before, inside and after their turns (delayed-worker.ts). Batches
 * must be applied in the order of their dispatch, and no reader may see a book between two orders
 * of a request.
 *
 * Every request keeps as many shares on one side of a book as on the other, so that a torn book
 * shows.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import {
  type BookJson,
  books,
  TestNode,
  temporaryDirectory,
  withMarkets,
} from '../common/node-harness.ts';
import { Random } from '../common/random.ts';
import { type Terms, Trader } from '../common/traders.ts';
import { FAUCET, verified, WITH_LEDGER } from '../common/verified.ts';
import { type Done, Pace, type PartOptions, seedOf, withRoundSeed } from './part.ts';

const WORKERS = 8;
const TRADERS = 10;
const READERS = 3;
const ROUND_REQUESTS = 300;
const NODE = 'test/node/dying-node';
const WORKER = 'torture/delayed-worker';

interface Round {
  readonly batches: number;
  readonly reads: number;
}

export async function interleavings(options: PartOptions): Promise<Done> {
  const pace = new Pace(options, 'requests');
  const sums = { rounds: 0, batches: 0, reads: 0 };
  for (let more = true; more; sums.rounds += 1) {
    const requests = Math.min(ROUND_REQUESTS, options.goal);
    const seed = seedOf(options.seed, sums.rounds);
    const round = await withRoundSeed('interleavings', seed, () => runRound(seed, requests));
    sums.batches += round.batches;
    sums.reads += round.reads;
    more = pace.goesOn(requests);
  }
  return pace.done(
    `${WORKERS} workers, ${sums.batches} batches in the order of their dispatch, ${sums.reads} reads ` +
      `of books, none torn`,
  );
}

async function runRound(seed: number, requests: number): Promise<Round> {
  const dataDir = temporaryDirectory();
  const markets = await withMarkets(dataDir, [{ id: 1 }, { id: 2, outcomes: ['A', 'B', 'C'] }]);
  const hasLedger = seed % 2 === 1;
  const settings = {
    ...(hasLedger ? WITH_LEDGER : {}),
    WORKERS: String(WORKERS),
    VERIFY_SIGNATURES: 'off',
    TEST_WORKER: WORKER,
    TEST_SEED: String(seed),
  };
  let node = await TestNode.start(dataDir, settings, [], NODE);
  const tokens = markets.flatMap(({ tokenIds }) => tokenIds);
  const state = { left: requests, reads: 0, isOver: false };
  const readers = Promise.all(
    Array.from({ length: READERS }, () => readBooks(node, tokens, state)),
  );
  // A torn book ends it all.
  readers.catch(() => {
    state.left = 0;
  });
  const traders = Array.from({ length: TRADERS }, async (_, i) => {
    const random = new Random(seed + i);
    const trader = await Trader.join(node, `trader ${i}`);
    if (hasLedger) for (const market of markets) await trader.split(node, market, FAUCET / 4);
    await trade(node, trader, random, markets, state);
  });
  try {
    await Promise.all(traders);
  } finally {
    state.isOver = true;
    await readers;
  }
  const last = await books(node, tokens);
  await node.stop();
  const batches = checkTurns(dataDir);
  node = await TestNode.start(dataDir);
  const again = await books(node, tokens);
  assert.deepEqual(again.map(levelsOf), last.map(levelsOf), 'a start has the books of before');
  await node.stop();
  await verified(dataDir);
  return { batches, reads: state.reads };
}

/** Sends requests that change both sides of a book equally, until all traders have sent enough. */
async function trade(
  node: TestNode,
  trader: Trader,
  random: Random,
  markets: readonly CatalogMarket[],
  state: { left: number },
): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const resting: (readonly string[])[] = [];
  try {
    while (state.left-- > 0) {
      const doomed = resting.length > 0 && random.chance(30) ? resting.shift()! : undefined;
      if (doomed !== undefined) {
        const text = JSON.stringify(doomed);
        const { json, status } = await trader.ask(node, 'DELETE', '/orders', text, agent);
        assert.equal(status, 200);
        assert.equal((json as { canceled: string[] }).canceled.length, doomed.length);
        continue;
      }
      const market = random.pick(markets);
      const outcome = random.below(market.tokenIds.length);
      const shares = random.between(5, 40);
      const sides: readonly Terms[] = [
        { market, outcome, side: 'BUY', ticks: random.between(5, 45), shares },
        { market, outcome, side: 'SELL', ticks: random.between(55, 95), shares },
      ];
      const pairs = random.between(1, 3);
      const orders = Array.from({ length: pairs }, () => sides.map((terms) => trader.sign(terms)));
      for (const { success, errorMsg } of await trader.post(node, orders.flat())) {
        assert(success, errorMsg);
      }
      resting.push(...orders.map((pair) => pair.map(({ id }) => id)));
    }
  } finally {
    agent.destroy();
  }
}

async function readBooks(
  node: TestNode,
  tokens: readonly string[],
  state: { reads: number; readonly isOver: boolean },
): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const sum = (side: BookJson['bids']): number =>
    side.reduce((shares, { size }) => shares + Number(size), 0);
  while (!state.isOver) {
    for (const one of await books(node, tokens, agent)) {
      state.reads += 1;
      assert.equal(sum(one.bids), sum(one.asks), `a torn book: ${JSON.stringify(one)}`);
    }
  }
  agent.destroy();
}

function levelsOf({ asks, asset_id, bids }: BookJson): object {
  return { asks, asset_id, bids };
}

/**
 * Checks the workers' output: by dispatch, batch sequences increase by one. Returns their number.
 */
function checkTurns(dataDir: string): number {
  const turns = readdirSync(dataDir)
    .filter((name) => name.startsWith('turns-'))
    .flatMap((name) => readFileSync(join(dataDir, name), 'utf8').trim().split('\n'))
    .map((line) => line.split(' ').map(Number))
    .sort((a, b) => a[0]! - b[0]!);
  for (const [i, [dispatchSequence, batch]] of turns.entries()) {
    if (i > 0)
      assert.equal(batch, turns[i - 1]![1]! + 1, `the batch of dispatch ${dispatchSequence}`);
  }
  assert(turns.length > 0, 'the workers recorded their turns');
  return turns.length;
}
