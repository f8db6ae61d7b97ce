/**
 * Statements and positions of a ledger against the engine's own totals, after random commands of
 * every kind: restarts, a trimmed log, damage, a failed write.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import {
  cashTotal,
  ledgerTotals,
  positionsOf,
  positionToken,
  sharesTotal,
} from '../../engine/ledger/reads.ts';
import { accountCount } from '../../engine/reads.ts';
import type { AccountRow } from '../../engine/tables/units.ts';
import { openTable } from '../../storage/kv/lmdb.ts';
import { Projections } from '../../storage/projection/environment.ts';
import {
  PositionsReader,
  ProjectionUnready,
  StatementsReader,
} from '../../storage/projection/reader.ts';
import type { NumberedEntry } from '../../storage/projection/statements.ts';
import { verifyDerived, verifyProjections } from '../../storage/projection/verify-derived.ts';
import { WITH_LEDGER } from '../engine/ledger-duel.ts';
import { Pair } from './projector-stage.ts';
import { ledgerDay, seeded } from './stored-exchange.ts';

const COMMANDS = 2_500;
const QUICK = { durability: 'committed', readOnly: false } as const;

/** All entries of a wallet, or of the venue with account 0, newest first, read in pages. */
function statement(reader: StatementsReader, account: number, page: number): NumberedEntry[] {
  const rows: NumberedEntry[] = [];
  for (let before = Number.POSITIVE_INFINITY; ; ) {
    const piece =
      account === 0 ? reader.ofVenue(before, page) : reader.ofWallet(account, before, page);
    rows.push(...piece);
    if (piece.length < page) return rows;
    before = piece.at(-1)!.number;
  }
}

/**
 * Checks that every statement adds up to its wallet, entry by entry, and that every entry is in one
 * of them.
 */
async function check(pair: Pair, page = 7, first = 0): Promise<void> {
  const { t } = pair.context;
  const projections = new Projections(pair.dataDir, QUICK);
  const statements = new StatementsReader(projections);
  const positions = new PositionsReader(projections);
  const numbers: number[] = [];
  for (let account = 1 as AccountRow; account <= accountCount(t); account++) {
    const entries = statement(statements, account, page).reverse();
    const shares = new Map<number, bigint>();
    let cash = first === 0 ? 0 : (entries[0]?.cashAfter ?? 0) - (entries[0]?.cash ?? 0);
    for (const entry of entries) {
      numbers.push(entry.number);
      assert.equal(entry.account, account);
      cash += entry.cash;
      assert.equal(entry.cashAfter, cash, `running cash of entry ${entry.number}`);
      if (entry.token === 0) continue;
      const before = shares.get(entry.token) ?? BigInt(entry.sharesAfter - entry.shares);
      if (first === 0 && !shares.has(entry.token)) assert.equal(before, 0n);
      shares.set(entry.token, before + BigInt(entry.shares));
      assert.equal(BigInt(entry.sharesAfter), shares.get(entry.token));
    }
    if (entries.length > 0) assert.equal(cash, cashTotal(t, account));
    if (first > 0) continue;
    const held = new Map(
      positionsOf(t, account).map((row) => [positionToken(t, row), sharesTotal(t, row)]),
    );
    for (const [token, sum] of shares) {
      assert.equal(Number(sum), held.get(token as never) ?? 0);
      // There is none where every trade has failed.
      const position = positions.of(account, token);
      assert.equal(position?.net ?? 0n, sum);
      if (sum === 0n) assert.equal(position?.cost ?? 0n, 0n);
    }
    const funded = entries.filter(({ token }) => token === 0);
    const paidIn = funded.reduce((sum, entry) => sum + BigInt(entry.cash), 0n);
    const gains = [...shares.keys()].flatMap((token) => positions.of(account, token) ?? []);
    const gained = gains.reduce(
      (sum, { cost, fees, realised }) => sum + realised - cost - fees,
      0n,
    );
    assert.equal(paidIn + gained, BigInt(cash), 'profit and cost are what the cash moved by');
  }
  for (const { account, cash, cashAfter, number, token } of statement(statements, 0, page)) {
    numbers.push(number);
    assert(account === 0 && token === 0 && cash < 0 && cashAfter >= 0, 'fees are only paid out');
  }
  assert.deepEqual(statements.ofWallet(0, Number.POSITIVE_INFINITY, 10), [], 'of no wallet');
  const { entries } = ledgerTotals(t);
  assert(entries > 0);
  const all = Array.from({ length: entries - first }, (_, i) => first + i);
  assert.deepEqual(
    numbers.sort((a, b) => a - b),
    all,
  );
  await projections.close();
}

function start(t: TestContext): Pair {
  return new Pair(t, {}, WITH_LEDGER);
}

test('statements add up to the totals of the engine, over restarts in the middle', (t) =>
  seeded(async (random) => {
    const day = ledgerDay(random, COMMANDS);
    const pair = start(t);
    for (let at = 0; at < day.length; ) {
      const end = Math.min(day.length, at + 1 + random.below(day.length / 3));
      await pair.go(day.slice(at, end));
      at = end;
      for (let steps = random.below(3); steps > 0; steps--) {
        pair.follower.step(pair.log.last, pair.now);
        pair.now += 1_000;
      }
      if (random.chance(50)) pair.follower.close(pair.log.last, pair.now);
      if (at < day.length) pair.start();
    }
    pair.start();
    pair.settle();
    pair.checkDerived();
    await check(pair, random.between(1, 20));
    const { t: tables } = pair.context;
    const seen = { tables, last: pair.log.last, digests: new Map(), firstFill: 0 };
    assert.match((await verifyDerived(pair.dataDir, seen)).text, /\d+ of \d+ entries/);
    assert.match((await verifyProjections(pair.dataDir, seen)).text, /entries of statements/);
    pair.follower.close(pair.log.last, pair.now);
  }));

test('no statement entry is lost when the log is trimmed and the projections are deleted', (t) =>
  seeded(async (random) => {
    const day = ledgerDay(random, COMMANDS);
    const half = Math.floor(day.length / 2);
    const pair = start(t);
    await pair.go(day.slice(0, half));
    pair.follower.close(pair.log.last, pair.now);
    await pair.log.trim(half - 1);
    rmSync(join(pair.dataDir, 'projections'), { recursive: true });
    pair.start({ logFirst: pair.log.first });
    await pair.go(day.slice(half));
    pair.settle();
    await check(pair);
    pair.follower.close(pair.log.last, pair.now);

    // Without derived/ what is older than snapshot and log is gone, and that is said.
    const tables = pair.context.t;
    const { entries: gone } = ledgerTotals(tables);
    await pair.log.trim(pair.log.last);
    rmSync(join(pair.dataDir, 'derived'), { recursive: true });
    rmSync(join(pair.dataDir, 'projections'), { recursive: true });
    pair.reports.length = 0;
    pair.start({ logFirst: pair.log.first });
    pair.settle();
    const lines = pair.lines().filter((line) => line.includes('entries of the ledger'));
    assert.match(lines.join(), new RegExp(`entries of the ledger 0 to ${gone - 1} are gone`));
    pair.follower.close(pair.log.last, pair.now);
  }));

test('a damaged entry of a statement causes a rebuild of all', (t) =>
  seeded(async (random) => {
    const pair = start(t);
    await pair.go(ledgerDay(random, COMMANDS));
    pair.settle();
    const projections = new Projections(pair.dataDir, QUICK);
    const table = openTable(projections.root, 'statements');
    const rows = [...table.getRange()] as { key: Buffer; value: Buffer }[];
    const { key, value } = rows.find((row) => row.key.readUInt32BE(0) > 0)!;
    const damaged = Buffer.from(value);
    damaged[30]! ^= 1;
    await table.put(key, damaged);
    projections.root.resetReadTxn();
    const reader = new StatementsReader(projections);
    assert.throws(() => statement(reader, key.readUInt32BE(0), 50), ProjectionUnready);
    const isThere = (): boolean => {
      projections.root.resetReadTxn();
      return projections.position()?.isWhole ?? false;
    };
    while (isThere()) await new Promise(setImmediate);
    assert.throws(() => reader.ofWallet(1, 5, 5), ProjectionUnready);
    while (!isThere()) {
      pair.settle();
      await new Promise(setImmediate);
    }
    await check(pair);
    await projections.close();
    pair.follower.close(pair.log.last, pair.now);
  }));
