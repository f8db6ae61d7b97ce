/**
 * The model check: streams of commands of every kind through the naive exchange and the engine,
 * which must agree on every outcome and every book. It audits the engine's tables after every
 * thousandth command, and money and shares at the end of each stream. Each stream has a shape of
 * its own; streams of odd seeds are days of an exchange with a ledger.
 */
import { audit } from '../../engine/audit.ts';
import { stateHash } from '../../engine/tables/state-hash.ts';
import { Random } from '../common/random.ts';
import { Duel } from '../engine/duel.ts';
import { ROOMY, replay } from '../engine/engine-driver.ts';
import { LedgerDuel, WITH_LEDGER } from '../engine/ledger-duel.ts';
import { LedgerStream } from '../engine/ledger-stream.ts';
import { commandText } from '../engine/script.ts';
import { BUSY, MARKETS, Stream } from '../engine/stream.ts';
import { type Done, Pace, type PartOptions, seedOf, withRoundSeed } from './part.ts';

const STREAM_COMMANDS = 25_000;
const AUDIT_COMMANDS = 1_000;
/** Commands of a ledger after which most markets have resolved, and a new exchange begins. */
const DAY_COMMANDS = 4_000;
const TAIL = 40;
/** Bounds of open orders of an account, and of wallets of a signer; 0 = none. */
const BOUNDS = [0, 0, 0, 4, 40];
const WALLETS = [0, 0, 1, 3];

export async function model(options: PartOptions): Promise<Done> {
  const pace = new Pace(options, 'commands');
  let fills = 0;
  let streams = 0;
  for (let more = true; more; streams += 1) {
    const length = Math.min(STREAM_COMMANDS, options.goal);
    await withRoundSeed('model', seedOf(options.seed, streams), (seed) => {
      fills += seed % 2 === 1 ? runDays(seed, length) : runStream(seed, length);
    });
    more = pace.goesOn(length);
    // So that a process that is told to end does.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const audits = Math.ceil(pace.count / AUDIT_COMMANDS);
  return pace.done(
    `${streams} streams, half with a ledger, ${fills} fills, ${audits} audits and comparisons of all`,
  );
}

function runStream(seed: number, length: number): number {
  const random = new Random(seed);
  const capacities = { ...ROOMY, history: random.pick([ROOMY.history, length >> 3, length >> 6]) };
  const duel = new Duel(capacities);
  duel.naive.openOrdersPerAccount = random.pick(BOUNDS);
  duel.driver.openOrdersPerAccount = duel.naive.openOrdersPerAccount;
  duel.naive.walletsPerSigner = random.pick(WALLETS);
  duel.driver.walletsPerSigner = duel.naive.walletsPerSigner;
  const first = random.below(MARKETS.length);
  const shape = {
    accounts: random.pick([2, 3, 7, 7, 40]),
    cancels: random.pick([3, 10, 24, 40]),
    sweeps: random.pick([0.2, 1, 3]),
    changes: random.pick([0.3, 0.3, 4]),
    ends: random.pick([0, 0, 0.3]),
    policies: random.pick([0.2, 2]),
    fees: random.pick([0, 0.3, 2]),
    delays: random.pick([0, 0, 3]),
    settlements: random.pick([0, 0, 9]),
    faults: random.pick([1, 4]),
    huge: BUSY.huge,
  };
  const markets = MARKETS.slice(first, first + random.between(1, MARKETS.length));
  const stream = new Stream(random, shape, markets);
  try {
    duel.step(stream.next()); // opens the first batch, in which the bound is set
    duel.step({ kind: 'policy', policy: 'allow' });
    for (let i = 1; i <= length; i++) {
      duel.step(stream.next());
      if (i % AUDIT_COMMANDS === 0) duel.compareAll();
    }
    duel.compareAll();
    duel.checkConservation();
    duel.driver.close();
    const again = replay(duel.driver.logged, capacities);
    if (stateHash(again.t) !== stateHash(duel.driver.t)) throw new Error('a replay differs');
  } catch (error) {
    const tail = duel.commands.slice(-TAIL).map(commandText).join('\n');
    const { message } = error as Error;
    throw new Error(`${message}\nthe last of ${duel.commands.length} commands:\n${tail}`, {
      cause: error,
    });
  }
  return duel.naive.fills;
}

function runDays(seed: number, length: number): number {
  const random = new Random(seed);
  let fills = 0;
  for (let done = 0; done < length; done += DAY_COMMANDS) {
    const duel = new LedgerDuel();
    const stream = new LedgerStream(random);
    for (let i = 1; i <= Math.min(DAY_COMMANDS, length - done); i++) {
      duel.step(stream.next());
      if (i % AUDIT_COMMANDS === 0) duel.compareAll();
    }
    for (const command of stream.last()) duel.step(command);
    duel.compareAll();
    duel.driver.close();
    const again = replay(duel.driver.logged, WITH_LEDGER).t;
    audit(again);
    if (stateHash(again) !== stateHash(duel.driver.t)) throw new Error('a replay differs');
    fills += duel.duel.naive.fills;
  }
  return fills;
}
