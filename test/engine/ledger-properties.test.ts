/**
 * The engine's ledger and the naive one agree on random commands of every kind; at the end of each day all markets
 * resolve, and a season ends. Replays of the log give equal tables, from the beginning and from a copy at any point,
 * also between two steps of a resolution or of the end of a season. With TEST_LONG=1 TEST_ROUNDS=60 these are five million commands.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { audit } from '../../engine/audit.ts';
import { nextResolving } from '../../engine/ledger/reads.ts';
import { rebuildIndexes } from '../../engine/orders/rebuild.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { seasonIsEnding } from '../../engine/season.ts';
import type { Capacities } from '../../engine/tables/capacities.ts';
import { Ledger } from '../../engine/tables/layout.ts';
import { digestOf, stateHash } from '../../engine/tables/state-hash.ts';
import { allocateEngine, Tables } from '../../engine/tables/tables.ts';
import { type Random, rounds, withSeed } from '../common/random.ts';
import { copyTables } from './copy-tables.ts';
import { replay } from './engine-driver.ts';
import { type LedgerCommand, LedgerDuel, WITH_LEDGER } from './ledger-duel.ts';
import { LedgerStream } from './ledger-stream.ts';

/** Commands after which a new exchange begins, because its markets have resolved. */
const DAY = 4_000;
const UNIT = 1_000_000;
const COMMANDS = rounds(84_000);

/** Kinds of commands, and what some of them must be answered with. */
const ALL_MET: readonly (readonly [kind: string, rule: keyof typeof RejectReason])[] = [
  ...'order deposit withdraw split merge declare resolve relay step payFees payRebate drawFees withdrawProposal season'
    .split(' ')
    .map((kind) => [kind, 'accepted'] as const),
  ...'order withdraw split merge payFees drawFees relay'
    .split(' ')
    .map((kind) => [kind, 'notEnough'] as const),
  ['relay', 'nonceMismatch'],
  ['relay', 'marketUnresolved'],
  ['relay', 'marketResolved'],
  ['deposit', 'idRepeated'],
  ['deposit', 'idsFull'],
  ['resolve', 'marketProposed'],
  ...'accepted idRepeated inviteRedeemed inviteUnknown walletInvited'
    .split(' ')
    .map((rule) => ['redeem', rule as keyof typeof RejectReason] as const),
  ['invite', 'accepted'],
  ['revoke', 'accepted'],
  ...(['accepted', 'seasonEnding', 'walletUnknown'] as const).map(
    (rule) => ['house', rule] as const,
  ),
  ...(
    'accepted idRepeated agentInvalid amountInvalid agentEndInvalid agentsFull agentUnknown ' +
    'walletUnknown walletForeign marketUnknown'
  )
    .split(' ')
    .map((rule) => ['agent', rule as keyof typeof RejectReason] as const),
  ...(['agentEnded', 'agentMarket', 'agentSize', 'agentCash'] as const).map(
    (rule) => ['order', rule] as const,
  ),
  ['order', 'exposureTooHigh'],
  ['order', 'tooManyOpen'],
  ...(['amountInvalid', 'idRepeated', 'seasonBusy', 'seasonEnding'] as const).map(
    (rule) => ['season', rule] as const,
  ),
  ...'order deposit split relay'.split(' ').map((kind) => [kind, 'seasonEnding'] as const),
];

interface Met {
  readonly rules: Map<string, number>;
  crashes: number;
  forgotten: number;
  /** Orders that ended because another signer took over their wallet. */
  replaced: number;
  due: number;
  /** Stops in the middle of the end of a season. */
  seasonCrashes: number;
}

function runDay(random: Random, capacities: Capacities, met: Met): void {
  const limits = random.chance(50)
    ? {
        openOrdersPerWallet: random.between(3, 30),
        exposurePerWallet: random.between(200, 900) * UNIT,
      }
    : {};
  const duel = new LedgerDuel(capacities, limits);
  const stream = new LedgerStream(random);
  const recent: LedgerCommand[] = [];
  const crash: { at: number; tables?: Tables; batches: number } = {
    at: random.below(DAY),
    batches: 0,
  };
  const step = (command: LedgerCommand): void => {
    recent.push(command);
    if (recent.length > 20) recent.shift();
    const rule = `${command.kind}/${duel.step(command)}`;
    met.rules.set(rule, (met.rules.get(rule) ?? 0) + 1);
  };
  try {
    const maybeStop = (i: number): void => {
      const { t } = duel.driver;
      const isSeason = seasonIsEnding(t) && random.chance(10);
      const isBetween = isSeason || (nextResolving(t) !== 0 && random.chance(2));
      if ((i === crash.at || isBetween) && i > 20) {
        duel.compareAll();
        crash.tables ??= new Tables(allocateEngine(capacities));
        copyTables(duel.driver.t, crash.tables);
        crash.batches = duel.driver.logged.length;
        met.crashes += isBetween ? 1 : 0;
        met.seasonCrashes += isSeason ? 1 : 0;
      }
      if (i % 500 === 499) duel.compareAll();
    };
    for (let i = 0; i < DAY; i++) {
      step(stream.next());
      maybeStop(i);
    }
    for (const command of stream.last()) step(command);
    duel.compareAll();
    for (const command of stream.seasonEnd((wallet) => Number(duel.ledger.cashOf(wallet)))) {
      step(command);
      maybeStop(DAY);
    }
    duel.compareAll();
  } catch (error) {
    console.error(recent.map((line) => JSON.stringify(line, bigintText)).join('\n'));
    throw error;
  }
  const { logged, t } = duel.driver;
  met.forgotten += t.ledger[Ledger.firstOperatorId]!;
  met.replaced += duel.replaced;
  met.due += duel.ledger.begunAtDeadline;
  duel.driver.close();
  const again = replay(logged, capacities).t;
  assert.equal(stateHash(again), stateHash(t), 'from the log');
  audit(again);
  if (crash.tables !== undefined) {
    rebuildIndexes(crash.tables);
    const copy = replay(logged.slice(crash.batches), capacities, crash.tables).t;
    assert.equal(stateHash(copy), stateHash(t), 'from a copy and the rest of the log');
    assert.equal(digestOf(copy), digestOf(t));
    audit(copy);
  }
}

function bigintText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}` : value;
}

test('the ledger of the engine equals the naive one for any commands and any stop', () => {
  withSeed((random) => {
    const met: Met = {
      rules: new Map(),
      crashes: 0,
      forgotten: 0,
      replaced: 0,
      due: 0,
      seasonCrashes: 0,
    };
    const seen = (kind: string, rule: number): number => met.rules.get(`${kind}/${rule}`) ?? 0;
    const missing = (): readonly string[] => [
      ...ALL_MET.filter(([kind, rule]) => seen(kind, RejectReason[rule]) === 0).map(String),
      ...Object.entries(met).flatMap(([name, count]) => (count === 0 ? [name] : [])),
    ];
    // A rare case may need more days than are usual.
    for (
      let done = 0;
      done < COMMANDS || (missing().length > 0 && done < 5 * COMMANDS);
      done += DAY
    ) {
      const isTight = done === 0 || random.chance(15);
      const tight = { ...WITH_LEDGER, positions: 45, operatorIds: 25 };
      runDay(random, isTight ? tight : WITH_LEDGER, met);
    }
    assert.deepEqual(missing(), []);
  });
});
