/**
 * The engine with a source agrees with the naive exchange after every batch of random levels,
 * prints, fills, orders, cancels, expiry, self-trade, resolutions and changes of ticks. Replays of
 * the log give equal tables, from the beginning and from a copy at any point.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { audit } from '../../engine/audit.ts';
import { rebuildIndexes } from '../../engine/orders/rebuild.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import type { Capacities } from '../../engine/tables/capacities.ts';
import { State } from '../../engine/tables/layout.ts';
import { stateHash } from '../../engine/tables/state-hash.ts';
import { allocateEngine, Tables } from '../../engine/tables/tables.ts';
import { type Random, rounds, withSeed } from '../common/random.ts';
import { copyTables } from './copy-tables.ts';
import { replay } from './engine-driver.ts';
import { type LedgerCommand, LedgerDuel, WITH_LEDGER } from './ledger-duel.ts';
import { SourceStream } from './source-stream.ts';

const DAY = 2_500;
const COMMANDS = rounds(20_000);
/** Small, so that a comparison of everything after each batch is quick. */
const SMALL: Capacities = { ...WITH_LEDGER, accounts: 64, orders: 2_048, history: 2_048 };

/** Commands by their answers, and the number of compared batches. */
type Met = Map<string, number>;

function runDay(random: Random, capacities: Capacities, met: Met): void {
  const duel = new LedgerDuel(capacities);
  const stream = new SourceStream(random);
  const recent: LedgerCommand[] = [];
  const count = (what: string): void => void met.set(what, (met.get(what) ?? 0) + 1);
  const step = (command: LedgerCommand): void => {
    recent.push(command);
    if (recent.length > 20) recent.shift();
    const fills = duel.driver.t.state[State.fills]!;
    count(`${command.kind}/${duel.step(command)}`);
    if (duel.driver.t.state[State.fills] !== fills) count(`${command.kind} trades`);
    if (command.kind === 'at') duel.compareAll();
  };
  const copyAt = random.between(500, DAY - 1);
  let copy: Tables | undefined;
  let copied = 0;
  try {
    for (let i = 0; i < DAY; i++) {
      step(stream.next());
      if (i !== copyAt) continue;
      duel.compareAll();
      copy = new Tables(allocateEngine(capacities));
      copyTables(duel.driver.t, copy);
      copied = duel.driver.logged.length;
      count(`levels in a copy: ${duel.driver.t.state[State.sourceLevels]! > 0}`);
    }
    for (const command of stream.last()) step(command);
    duel.compareAll();
  } catch (error) {
    console.error(recent.map((line) => JSON.stringify(line, bigintText)).join('\n'));
    throw error;
  }
  const { logged, t } = duel.driver;
  duel.driver.close();
  assert.equal(stateHash(replay(logged, capacities).t), stateHash(t), 'from the log');
  rebuildIndexes(copy!);
  const again = replay(logged.slice(copied), capacities, copy).t;
  assert.equal(stateHash(again), stateHash(t), 'from a copy and the rest of the log');
  audit(again);
}

function bigintText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}` : value;
}

test('a source has the effects of the naive one on books and money, among any commands', () => {
  withSeed((random) => {
    const met: Met = new Map();
    for (let done = 0; done < COMMANDS; done += DAY) {
      const isTight = random.chance(25);
      runDay(random, isTight ? { ...SMALL, orders: 30, history: 30 } : SMALL, met);
    }
    const seen = (kind: string, ...rules: (keyof typeof RejectReason)[]): void => {
      for (const rule of rules)
        assert(met.has(`${kind}/${RejectReason[rule]}`), `${kind}: ${rule} was seen`);
    };
    seen('level', 'accepted', 'notEnough', 'sourceCrossed', 'tick', 'amountInvalid', 'notBinary');
    seen('level', 'tokenUnknown');
    seen('print', 'accepted', 'amountInvalid', 'tick');
    seen('fill', 'accepted', 'orderNotFound', 'amountInvalid', 'notBinary');
    assert(met.has('level trades') && met.has('order trades') && met.has('fill trades'));
    assert(met.has('levels in a copy: true'), 'a copy had levels');
  });
});
