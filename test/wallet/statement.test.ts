/**
 * Results of the ledger on a whole node with LEDGER=on over real sockets: statements as JSON and
 * CSV, and positions before and after a resolution. Money and resolutions come from commands in the
 * log.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { level2 } from '../../client/credentials.ts';
import {
  CommandBuffer,
  encodeFunds,
  encodeResolve,
  encodeResolveStep,
  type FundsKind,
} from '../../engine/commands.ts';
import { type Capacities, RESOLVE_STEP_MAX } from '../../engine/tables/capacities.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import { bytesToWords } from '../../server/common/uint256.ts';
import { FileLog } from '../../storage/log/file-log.ts';
import { recover } from '../../storage/recovery/recover.ts';
import { SnapshotFiles } from '../../storage/snapshot/snapshots.ts';
import { send, TestNode, temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import { seconds, Trader } from '../common/traders.ts';
import { appended, Exchange } from '../storage/stored-exchange.ts';

type Row = Readonly<Record<string, unknown>>;

const PATH = '/ledger/statement';
const SHARE = 1_000_000;
const MARKET = 1 as MarketRow;
const settings = { LEDGER: 'on', POSITIONS_MAX: '1024' };
const CAPACITIES: Capacities = {
  markets: 64,
  tokens: 256,
  accounts: 4_096,
  orders: 8_192,
  levels: 262_144,
  trades: 20_000,
  history: 4_096,
  positions: 1_024,
  operatorIds: 1_048_576,
};

const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
assert(market);
let node = await TestNode.start(dataDir, settings);
const alice = await Trader.join(node, 'alice');
const bob = await Trader.join(node, 'bob');
let requests = 0;

type Encode = (out: CommandBuffer) => void;

/** Stops the node, appends a batch of commands to its log, and starts it again. */
async function appendToLog(...encode: readonly Encode[]): Promise<void> {
  await node.stop();
  const durability = 'committed';
  const log = await FileLog.open({
    dataDir,
    durability,
    segmentBytes: 2 ** 18,
    log: () => undefined,
  });
  const snapshots = new SnapshotFiles(dataDir, durability);
  const { engine } = recover(CAPACITIES, snapshots, log, undefined, assert.fail);
  const commands = encode.map((write) => {
    const out = new CommandBuffer(256);
    write(out);
    return out.i32.slice(0, out.words);
  });
  const batch = { time: Date.now(), persistedClosedSequence: 0, commands };
  const entry = new Exchange(engine.t.memory).apply(batch);
  assert(entry !== null);
  await appended(log, entry);
  await log.close();
  node = await TestNode.start(dataDir, settings);
}

function id() {
  requests += 1;
  return { isOperator: true, ms: Date.now(), key: Int32Array.of(requests, 0, 0, 0) };
}

function funds(kind: FundsKind, trader: Trader, amount: number): Encode {
  const wallet = bytesToWords(Buffer.from(trader.address.slice(2), 'hex'), new Int32Array(5));
  const fields = { id: id(), wallet, amount, market: kind === 'deposit' ? (0 as const) : MARKET };
  return (out) => void encodeFunds(out, kind, fields);
}

async function statement(trader: Trader, count: number): Promise<readonly Row[]> {
  await until(async () => {
    const { json, status } = await trader.call(node, 'GET', PATH);
    return status === 200 && (json as { count: number }).count === count;
  }, 60_000);
  return ((await trader.call(node, 'GET', PATH)).json as { data: readonly Row[] }).data;
}

async function data(path: string, trader: Trader): Promise<readonly Row[]> {
  const { json, status, text } = await send(node, 'GET', `${path}?user=${trader.address}`);
  assert.equal(status, 200, text);
  return json as readonly Row[];
}

const brief = (rows: readonly Row[]): unknown[] =>
  rows.map((row) => [
    row.cause,
    row.outcome,
    row.cash,
    row.shares,
    row.cash_after,
    row.shares_after,
  ]);

test('a statement has every entry with its running balance, newest first', async () => {
  await appendToLog(funds('deposit', alice, 100 * SHARE), funds('deposit', bob, 50 * SHARE));
  await appendToLog(funds('split', alice, 10 * SHARE));
  await alice.place(node, { market, side: 'SELL', ticks: 60, shares: 4 * 2 });
  await bob.place(node, { market, side: 'BUY', ticks: 60, shares: 4 * 2 });
  const [yes, no] = market.outcomes;
  assert.deepEqual(brief(await statement(alice, 4)), [
    ['TRADE', yes, '4800000', '-8000000', '94800000', '2000000'],
    ['SPLIT', no, '0', '10000000', '90000000', '10000000'],
    ['SPLIT', yes, '-10000000', '10000000', '90000000', '10000000'],
    ['DEPOSIT', '', '100000000', '0', '100000000', '0'],
  ]);
  const [trade, deposit] = await statement(bob, 2);
  assert.deepEqual(brief([trade!, deposit!]), [
    ['TRADE', yes, '-4800000', '8000000', '45200000', '8000000'],
    ['DEPOSIT', '', '50000000', '0', '50000000', '0'],
  ]);
  assert.equal(trade!.token_id, market.tokenIds[0]);
  assert.equal(trade!.condition_id, market.conditionId);
  const [split, first] = (await statement(alice, 4)).slice(1, 3);
  assert.equal(split!.reference, first!.reference, 'a split belongs together');
});

test('pages continue at the entry where the last one ended', async () => {
  const all = await statement(alice, 4);
  const found: Row[] = [];
  for (let cursor = ''; cursor !== 'LTE='; ) {
    const query = `?limit=1&next_cursor=${encodeURIComponent(cursor)}`;
    const { json, text } = await alice.call(node, 'GET', PATH, query);
    const page = json as { data: Row[]; next_cursor: string; limit: number; count: number };
    assert.deepEqual([page.limit, page.count], [1, 1], text);
    found.push(...page.data);
    cursor = page.next_cursor;
  }
  assert.deepEqual(found, all);
});

test('a statement is CSV when the caller accepts it', async () => {
  const ask = (accept: string) => {
    const headers = level2('SERVICE', alice.address, alice.trio, 'GET', PATH, '', seconds());
    return send(node, 'GET', PATH, { ...headers, Accept: accept });
  };
  const { headers, text } = await ask('text/html, text/csv;q=0.9');
  assert.equal(headers['content-type'], 'text/csv; charset=utf-8');
  assert.equal(headers['x-next-cursor'], 'LTE=');
  const [names = '', ...lines] = text.trimEnd().split('\r\n');
  const columns = names.split(',');
  const rows = lines.map((line) =>
    Object.fromEntries(line.split(',').map((value, i) => [columns[i]!, value])),
  );
  const expected = (await statement(alice, 4)).map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value)])),
  );
  assert.deepEqual(rows, expected);
  for (const accept of ['*/*', 'application/json', 'text/csv;q=0, */*']) {
    assert.match(String((await ask(accept)).headers['content-type']), /^application\/json/, accept);
  }
});

test('an invalid page is refused, and so is a statement without a ledger', async () => {
  for (const query of ['?next_cursor=x', '?limit=0', '?limit=1001', '?limit=x']) {
    const { status } = await alice.call(node, 'GET', PATH, query);
    assert.equal(status, 400, query);
  }
  assert.equal((await send(node, 'GET', PATH)).status, 401);
  const other = await TestNode.start(temporaryDirectory());
  const carol = await Trader.join(other, 'carol');
  const { json, status } = await carol.call(other, 'GET', PATH);
  assert.equal(status, 409);
  assert.equal((json as Row).error, 'this node has no ledger');
  await other.stop();
});

test('positions follow from the ledger, and a resolution closes them with their profit', async () => {
  await statement(alice, 4);
  const shares = (rows: readonly Row[]) =>
    rows.map(({ outcome, size, avgPrice, realizedPnl }) => [outcome, size, avgPrice, realizedPnl]);
  const [yes, no] = market.outcomes;
  assert.deepEqual(shares(await data('/positions', alice)), [
    [no, 10, 0.5, 0],
    // 8 of 10, which cost 0.50 each, were sold at 0.60.
    [yes, 2, 0.5, 0.8],
  ]);
  assert.deepEqual(shares(await data('/positions', bob)), [[yes, 8, 0.6, 0]]);
  assert.equal((await data('/value', bob))[0]!.value, 4.8);
  const interest = async () =>
    ((await send(node, 'GET', `/oi?market=${market.conditionId}`)).json as Row[])[0]!.value;
  assert.equal(await interest(), 10, 'split sets count');

  const weights = [1, 0];
  await appendToLog(
    (out) => void encodeResolve(out, { id: id(), market: MARKET, weights, isVoid: false }),
    (out) => void encodeResolveStep(out, MARKET, RESOLVE_STEP_MAX),
    (out) => void encodeResolveStep(out, MARKET, RESOLVE_STEP_MAX),
  );
  assert.deepEqual(brief((await statement(alice, 6)).slice(0, 2)).toSorted(), [
    ['REDEEM', no, '0', '-10000000', '96800000', '0'],
    ['REDEEM', yes, '2000000', '-2000000', '96800000', '0'],
  ]);
  assert.deepEqual(brief((await statement(bob, 3)).slice(0, 1)), [
    ['REDEEM', yes, '8000000', '-8000000', '53200000', '0'],
  ]);
  for (const trader of [alice, bob]) assert.deepEqual(await data('/positions', trader), []);
  const closed = (rows: readonly Row[]) =>
    rows.map((row) => [row.outcome, row.realizedPnl, row.curPrice, row.redeemable]);
  assert.deepEqual(closed(await data('/closed-positions', alice)), [
    [yes, 1.8, 1, false],
    [no, -5, 0, false],
  ]);
  assert.deepEqual(closed(await data('/closed-positions', bob)), [[yes, 3.2, 1, false]]);
  assert.equal(await interest(), 0);
});
