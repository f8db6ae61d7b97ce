/** Commands of the ledger and the loop of resolutions, on an engine that applies each batch at once. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { audit } from '../../engine/audit.ts';
import {
  CommandBuffer,
  commandWords,
  encodeConfigure,
  encodeMarket,
} from '../../engine/commands.ts';
import { Engine } from '../../engine/engine.ts';
import { cashTotal, ledgerTotals, nextResolving, resolutionOf } from '../../engine/ledger/reads.ts';
import { findAccount } from '../../engine/orders/accounts.ts';
import { stateDigest } from '../../engine/reads.ts';
import { seasonIsEnding } from '../../engine/season.ts';
import { MarketFlag } from '../../engine/tables/codes.ts';
import { Ledger } from '../../engine/tables/layout.ts';
import { allocateEngine } from '../../engine/tables/tables.ts';
import type { MarketRow, MicroShares } from '../../engine/tables/units.ts';
import { SequenceLockReader } from '../../server/orders/exchange-memory/sequence-lock-reader.ts';
import {
  type Failure,
  fail,
  type Request,
} from '../../server/orders/exchange-memory/slot-requests.ts';
import { LedgerCommands } from '../../server/wallet/ledger-commands.ts';
import { operatorRequestId, userRequestId } from '../../server/wallet/request-id.ts';
import { ResolutionLoop } from '../../server/wallet/resolution-loop.ts';
import { until } from '../common/node-harness.ts';
import { addressWords, idWords } from '../engine/engine-driver.ts';
import { WITH_LEDGER } from '../engine/ledger-duel.ts';

const HOLDERS = 600;
const TIME = 1_700_000_000_000;
const MARKET = 1 as MarketRow;

class Venue {
  readonly engine = new Engine(
    allocateEngine({ ...WITH_LEDGER, accounts: 1_000, positions: 2_000 }),
  );
  readonly sequenceLock = new SequenceLockReader(undefined, setImmediate);
  readonly lines: string[] = [];
  batches = 0;
  failures: Failure[] = [];
  readonly ledger: LedgerCommands;
  loop = this.newLoop();

  constructor() {
    const out = new CommandBuffer(256);
    encodeConfigure(out, 0, WITH_LEDGER.history, 100, 100, 0, true);
    const fields = {
      flags: MarketFlag.tradable,
      ticksPerUnit: 100,
      baseFeeBps: 0,
      minSize: 1 as MicroShares,
    } as const;
    encodeMarket(out, fields, idWords(1), [idWords(2), idWords(3)]);
    this.apply(out.i32.slice(0, out.words));
    const { sequenceLock } = this;
    const tables = this.engine.t;
    const sequencer = {
      submit: (request: Request) => this.submit(request),
      whenCommitted: (done: (isCommitted: boolean) => void) => done(true),
    };
    this.ledger = new LedgerCommands({
      tables,
      sequenceLock,
      sequencer,
      onSteps: () => this.loop.wake(),
    });
  }

  newLoop(): ResolutionLoop {
    return new ResolutionLoop({
      tables: this.engine.t,
      sequenceLock: this.sequenceLock,
      sequencer: { submit: (request: Request) => this.submit(request) },
      log: (line) => this.lines.push(line),
    });
  }

  async fund(holder: number): Promise<void> {
    const wallet = addressWords(holder);
    const id = operatorRequestId(`${TIME}-deposit-${holder}`)!;
    const deposit = await this.ledger.funds('deposit', { id, wallet, amount: 10 });
    assert.equal(deposit.kind, 'done');
    const address = Buffer.alloc(20);
    address.writeUInt32BE(holder);
    const own = userRequestId(`${TIME}-split`, address)!;
    const split = await this.ledger.funds('split', { id: own, wallet, market: MARKET, amount: 4 });
    assert.equal(split.kind, 'done');
  }

  cashOf(holder: number): number {
    const { t } = this.engine;
    return cashTotal(t, findAccount(t, addressWords(holder), 0));
  }

  private submit(request: Request): void {
    const failure = this.failures.shift();
    setImmediate(() => {
      if (failure !== undefined) return fail(request, failure);
      const { body } = request;
      const reasons = this.apply(new Int32Array(body.slice().buffer));
      request.answered(200, new Uint8Array(Int32Array.from(reasons).buffer));
    });
  }

  private apply(words: Int32Array): number[] {
    const { engine } = this;
    const f64 = new Float64Array(words.buffer);
    const reasons: number[] = [];
    this.batches += 1;
    engine.begin(TIME + this.batches, 0);
    for (let at = 0; at < words.length; at += commandWords(words, at)) {
      reasons.push(engine.apply(words, f64, at));
    }
    engine.end();
    return reasons;
  }
}

const VECTOR = { market: MARKET, weights: [1, 0] };
const id = (name: string) => operatorRequestId(`${TIME}-${name}`)!;

test('every holder is paid after a resolve, in batches of their own, and a repetition changes nothing', async () => {
  const venue = new Venue();
  const { t } = venue.engine;
  for (let holder = 1; holder <= HOLDERS; holder++) await venue.fund(holder);
  const before = venue.batches;
  const first = await venue.ledger.resolve({ id: id('resolve'), ...VECTOR });
  assert.equal(first.kind, 'done');
  venue.failures = ['busy', 'undone'];
  await until(() => nextResolving(t) === 0);
  assert(venue.batches - before > 3, 'steps have batches of their own');
  assert.equal(resolutionOf(t, MARKET)?.isDone, true);
  for (let holder = 1; holder <= HOLDERS; holder++) assert.equal(venue.cashOf(holder), 10);
  const again = await venue.ledger.resolve({ id: id('resolve'), ...VECTOR });
  assert(again.kind === 'done' && again.isRepeated);
  assert.deepEqual(again.first, first.kind === 'done' ? first.first : undefined);
  const other = await venue.ledger.resolve({ ...VECTOR, id: id('other'), weights: [0, 1] });
  assert(other.kind === 'refused' && other.status === 409, JSON.stringify(other));
  const conflict = await venue.ledger.resolve({ ...VECTOR, id: id('resolve'), weights: [0, 1] });
  assert(conflict.kind === 'refused' && conflict.status === 409);
  assert.equal(ledgerTotals(t).imbalance, 0);
  audit(t);
  assert.deepEqual(venue.lines, []);
});

test('the next start finishes resolutions, and a closed loop sends nothing', async () => {
  const venue = new Venue();
  const { t } = venue.engine;
  for (let holder = 1; holder <= HOLDERS; holder++) await venue.fund(holder);
  await venue.loop.close();
  await venue.ledger.resolve({ id: id('resolve'), ...VECTOR });
  const { batches } = venue;
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  assert.equal(venue.batches, batches);
  assert.equal(nextResolving(t), MARKET);
  venue.loop = venue.newLoop();
  venue.loop.wake();
  await until(() => nextResolving(t) === 0);
  assert.equal(venue.cashOf(HOLDERS), 10);
  await venue.loop.close();
});

test('an id that may have been dropped is refused, and the text says why', async () => {
  const venue = new Venue();
  const { t } = venue.engine;
  await venue.fund(1);
  // As if a later request had pushed an id of this time out of the ring of operators.
  t.ledger[Ledger.forgotten] = TIME;
  const { batches } = venue;
  const digest = stateDigest(t);
  const late = { id: id('late'), wallet: addressWords(1), amount: 1 };
  const refused = await venue.ledger.funds('withdraw', late);
  assert(refused.kind === 'refused' && refused.status === 409, JSON.stringify(refused));
  assert.equal(refused.text, 'id is older than the oldest that is kept');
  assert.deepEqual([stateDigest(t), venue.cashOf(1)], [digest, 6]);
  assert.equal(venue.batches, batches + 1);
});

test('a request that the node refuses says so, and one for an unknown wallet or market is refused', async () => {
  const venue = new Venue();
  const funds = { id: id('one'), wallet: addressWords(1), amount: 5 };
  venue.failures = ['busy'];
  const failed = await venue.ledger.funds('deposit', funds);
  assert(failed.kind === 'failed' && failed.status === 503);
  const unknown = await venue.ledger.funds('withdraw', funds);
  assert(unknown.kind === 'refused' && unknown.status === 404);
  assert.equal((await venue.ledger.funds('deposit', funds)).kind, 'done');
  const market = 7 as MarketRow;
  const nowhere = await venue.ledger.resolve({ ...VECTOR, id: id('two'), market });
  assert(nowhere.kind === 'refused' && nowhere.status === 404);
});

test('a season that stopped in the middle goes on with the next loop, and meanwhile nothing is paid in', async () => {
  const venue = new Venue();
  const { t } = venue.engine;
  const deposit = (holder: number, name: string) =>
    venue.ledger.funds('deposit', { id: id(name), wallet: addressWords(holder), amount: 10 });
  for (let holder = 1; holder <= HOLDERS; holder++) await deposit(holder, `paid-${holder}`);
  const ended = await venue.ledger.endSeason({ id: id('season'), startSum: 7 });
  assert.equal(ended.kind, 'done');
  await venue.loop.close();
  assert(seasonIsEnding(t));
  const refused = await deposit(1, 'meanwhile');
  assert.equal(refused.kind === 'refused' && refused.status, 503);
  venue.loop = venue.newLoop();
  venue.loop.wake();
  await until(() => !seasonIsEnding(t));
  for (let holder = 1; holder <= HOLDERS; holder++) assert.equal(venue.cashOf(holder), 7);
  assert.equal(ledgerTotals(t).deposited, 7 * HOLDERS);
  audit(t);
});
