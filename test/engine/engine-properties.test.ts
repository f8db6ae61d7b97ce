/** The engine and the naive exchange agree, command by command, on long random streams. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { digestOf, stateHash } from '../../engine/tables/state-hash.ts';
import { freshSeed, rounds, SHORT, withSeed } from '../common/random.ts';
import { Duel } from './duel.ts';
import { ROOMY, replay } from './engine-driver.ts';
import { type Command, POLICIES, type SideName, type TypeName } from './naive-types.ts';
import { commandText, ScriptReader } from './script.ts';
import { BUSY, MARKETS, Stream, type StreamShape } from './stream.ts';

const LONG = rounds(50_000);
/** Length of streams with a shape of their own. */
const SHAPED = SHORT ? LONG / 2 : LONG;

/** Runs a stream; a failure prints the commands before it, in the notation of check(). */
function runStream(duel: Duel, stream: Stream, length: number): Map<number, number> {
  const rules = new Map<number, number>();
  try {
    for (let i = 0; i < length; i++) {
      const { reason } = duel.step(stream.next());
      rules.set(reason, (rules.get(reason) ?? 0) + 1);
      if (i % 2_500 === 2_499) duel.compareAll();
    }
    duel.compareAll();
    duel.checkConservation();
  } catch (error) {
    const tail = duel.commands.slice(-40).map(commandText);
    console.error(`the last of ${duel.commands.length} commands:\n${tail.join('\n')}`);
    throw error;
  }
  return rules;
}

/** Bounds that this stream does not reach. */
const BOUNDED = ['tooManyOpen', 'tooManyWallets', 'tableFull'];
/** Rules of an exchange with a ledger. */
const isOfLedger = (name: string, reason: number): boolean =>
  name === 'notEnough' || reason >= RejectReason.ledgerOff;
const isOfWorkers = (name: string): boolean => name === 'walletBanned';
/** Lengths that may be added until every other rule was reached. */
const MORE_MAX = 8;

test('the engine agrees with the naive exchange on a busy stream over several markets', () => {
  withSeed((random) => {
    const duel = new Duel();
    const stream = new Stream(random);
    const rules = runStream(duel, stream, LONG);
    const unseen = (): string[] =>
      Object.entries(RejectReason)
        .filter(
          ([name, reason]) => !rules.has(reason) && !isOfLedger(name, reason) && !isOfWorkers(name),
        )
        .map(([name]) => name);
    // The rarest rules are not met by every stream of this length.
    for (let more = 0; more < MORE_MAX && unseen().length > BOUNDED.length; more++) {
      for (const reason of runStream(duel, stream, LONG).keys()) rules.set(reason, 1);
    }
    duel.driver.close();
    assert.deepEqual(unseen(), BOUNDED, 'a stream this long meets every rule that needs no bound');
    assert(duel.naive.fills > LONG / 10, 'and trades');

    const again = replay(duel.driver.logged);
    assert.equal(stateHash(again.t), stateHash(duel.driver.t), 'a replay ends in the same state');
    assert.equal(digestOf(again.t), digestOf(duel.driver.t), 'and in the same digest');
  });
});

const shapes: readonly (readonly [string, Partial<StreamShape>, typeof MARKETS])[] = [
  [
    'on one pair where three accounts keep meeting themselves',
    { accounts: 3, policies: 2 },
    MARKETS.slice(0, 1),
  ],
  ['on markets that keep changing their terms', { changes: 4, cancels: 10 }, MARKETS],
  ['on markets that end and are followed by others', { ends: 0.4, changes: 1 }, MARKETS],
  [
    'on deep books with hardly a cancel',
    { cancels: 3, sweeps: 0.2, accounts: 40 },
    MARKETS.slice(1, 4),
  ],
];
for (const [where, shape, markets] of shapes) {
  test(`${where} the engine agrees with the naive exchange`, () => {
    withSeed((random) => {
      runStream(new Duel(), new Stream(random, { ...BUSY, ...shape }, markets), SHAPED);
    });
  });
}

const order = fc.record({
  kind: fc.constant('order' as const),
  token: fc.constantFrom(1, 2),
  side: fc.constantFrom<SideName[]>('BUY', 'SELL'),
  type: fc.constantFrom<TypeName[]>('GTC', 'GTC', 'GTD', 'FOK', 'FAK'),
  postOnly: fc.boolean(),
  lots: fc.integer({ min: 1, max: 4 }),
  ticks: fc.integer({ min: 1, max: 9 }),
  /** Micro-units by which the collateral is off the tick. */
  off: fc.constantFrom(0, 0, 0, 1, -1),
  maker: fc.integer({ min: 1, max: 3 }),
});
const cancel = fc.record({
  kind: fc.constant('cancel' as const),
  id: fc.nat(30),
  signer: fc.nat(3),
});
const move = fc.oneof(
  { weight: 12, arbitrary: order },
  { weight: 3, arbitrary: cancel },
  fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(3_000) }),
  fc.record({ kind: fc.constant('policy' as const), policy: fc.constantFrom(...POLICIES) }),
  fc.record({
    kind: fc.constant('grid' as const),
    grid: fc.constantFrom(10, 100, 200, 400, 1_000),
  }),
);
type Move = typeof move extends fc.Arbitrary<infer M> ? M : never;

/** Short moves as commands: order n has id n, lots of 10 micro-shares, a grid of 10. */
function commandsOf(moves: readonly Move[]): Command[] {
  const terms = { baseFeeBps: 300, minSize: 0n, tradable: true, ended: false, negRisk: false };
  let time = 1_000_000;
  let id = 0;
  const commands = moves.map((m): Command => {
    if (m.kind === 'cancel' || m.kind === 'policy') return m;
    if (m.kind === 'wait') {
      time += m.ms;
      return { kind: 'at', time };
    }
    if (m.kind === 'grid') return { kind: 'change', market: 1, grid: m.grid, ...terms };
    const { lots, ticks, off, ...rest } = m;
    const isImmediate = m.type === 'FOK' || m.type === 'FAK';
    id += 1;
    return {
      ...rest,
      id,
      postOnly: m.postOnly && !isImmediate,
      shares: BigInt(lots * 10),
      collateral: BigInt(lots * ticks + (isImmediate ? off : 0)),
      expiration: m.type === 'GTD' ? Math.floor(time / 1_000) + 2 : 0,
      feeRateBps: 300,
      signer: m.maker,
      signatureType: 0,
      faults: [],
    };
  });
  return [
    { kind: 'at', time: 1_000_000 },
    { kind: 'market', condition: 1, outcomes: 2, grid: 10, ...terms },
    ...commands,
  ];
}

test('the smallest stream on which engine and naive exchange differ would be printed', () => {
  const seed = freshSeed();
  const property = fc.property(fc.array(move, { maxLength: 250, size: 'max' }), (moves) => {
    const duel = new Duel();
    try {
      for (const command of commandsOf(moves)) duel.step(command);
      duel.compareAll();
      duel.checkConservation();
    } catch (error) {
      throw new Error(`${duel.text()}\n${error}`, { cause: error });
    }
  });
  fc.assert(property, { seed, numRuns: rounds(60) });
});

test('a printed stream reads back as itself', () => {
  withSeed((random) => {
    const stream = new Stream(random, { ...BUSY, changes: 3, ends: 3, policies: 2, faults: 30 });
    for (let i = 0; i < 2_000; i++) {
      const command = stream.next();
      assert.deepEqual(new ScriptReader().read(commandText(command)), command);
    }
  });
});

test('a refused command changes no table', () => {
  withSeed((random) => {
    const small = { ...ROOMY, accounts: 64, orders: 2_000, history: 40_000, levels: 60_000 };
    const duel = new Duel(small);
    const stream = new Stream(random, { ...BUSY, faults: 20 }, MARKETS.slice(0, 4));
    const { context } = duel.driver.engine;
    let refusals = 0;
    for (let i = 0; i < rounds(6_000); i++) {
      const command = stream.next();
      // A batch ends with its last command: what begin() did is part of the state before.
      const isSampled = command.kind !== 'at' && random.chance(10);
      const before = isSampled ? stateHash(duel.driver.t) : '';
      const changes = context.changes;
      const { reason } = duel.step(command);
      if (!isSampled || reason === RejectReason.accepted) continue;
      // The one refusal that acts: cancel-both takes the maker in the way along
      // (docs/protocol.md#self-trade).
      if (reason === RejectReason.selfTrade && context.changes !== changes) continue;
      refusals += 1;
      assert.equal(stateHash(duel.driver.t), before, `${commandText(command)} changed something`);
      assert.equal(context.changes, changes, 'nor is it logged');
    }
    assert(refusals > rounds(50), 'the sample holds refusals');
  });
});
