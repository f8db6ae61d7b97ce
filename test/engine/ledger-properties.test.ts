/**
 * The engine's ledger and the naive one agree on random commands of every kind. Replays of the log
 * give equal tables, from the beginning and from a copy at any point, also between two steps of a
 * resolution. With TEST_LONG=1 TEST_ROUNDS=60 these are five million commands.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { audit } from '../../engine/audit.ts';
import { nextResolving } from '../../engine/ledger/reads.ts';
import { rebuildIndexes } from '../../engine/orders/rebuild.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
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
const COMMANDS = rounds(84_000);

interface Met {
  readonly rules: Map<string, number>;
  crashes: number;
  forgotten: number;
  /** Orders that ended because another signer took over their wallet. */
  replaced: number;
  due: number;
}

function runDay(random: Random, capacities: Capacities, met: Met): void {
  const duel = new LedgerDuel(capacities);
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
    for (let i = 0; i < DAY; i++) {
      step(stream.next());
      const isBetween = nextResolving(duel.driver.t) !== 0 && random.chance(2);
      if ((i === crash.at || isBetween) && i > 20) {
        duel.compareAll();
        crash.tables ??= new Tables(allocateEngine(capacities));
        copyTables(duel.driver.t, crash.tables);
        crash.batches = duel.driver.logged.length;
        met.crashes += isBetween ? 1 : 0;
      }
      if (i % 500 === 499) duel.compareAll();
    }
    for (const command of stream.last()) step(command);
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
    const met: Met = { rules: new Map(), crashes: 0, forgotten: 0, replaced: 0, due: 0 };
    for (let done = 0; done < COMMANDS; done += DAY) {
      const isTight = done === 0 || random.chance(15);
      const tight = { ...WITH_LEDGER, positions: 45, operatorIds: 25 };
      runDay(random, isTight ? tight : WITH_LEDGER, met);
    }
    const seen = (kind: string, rule: number): number => met.rules.get(`${kind}/${rule}`) ?? 0;
    const kinds = ['order', 'deposit', 'withdraw', 'split', 'merge', 'declare', 'resolve'];
    for (const kind of [...kinds, 'payFees', 'drawFees']) {
      assert(seen(kind, RejectReason.accepted) > 0, `${kind} was accepted`);
    }
    for (const kind of ['order', 'withdraw', 'split', 'merge', 'payFees', 'drawFees']) {
      assert(seen(kind, RejectReason.notEnough) > 0, `${kind} was refused for want of funds`);
    }
    assert(seen('deposit', RejectReason.idRepeated) > 0, 'an id came again');
    assert(seen('deposit', RejectReason.idsFull) > 0, 'there was no room for an id');
    assert(met.forgotten > 0 && met.replaced > 0, 'ids were forgotten, and signers replaced');
    const { accepted, marketProposed } = RejectReason;
    assert(seen('withdrawProposal', accepted) > 0 && met.due > 0, 'proposals ended either way');
    assert(seen('resolve', marketProposed) > 0, 'a proposal stood in the way of another');
    assert(seen('step', RejectReason.accepted) > 0 && met.crashes > 0, 'it stopped between steps');
  });
});
