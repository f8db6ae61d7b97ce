/** The end of a season with many wallets, on a whole node that is killed in the middle of it again and again. */
import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { NodeClient, Wallet } from '../../client/client.ts';
import { audit } from '../../engine/audit.ts';
import { isHouse } from '../../engine/ledger/house.ts';
import { cashTotal, ledgerTotals } from '../../engine/ledger/reads.ts';
import { accountCount } from '../../engine/reads.ts';
import { seasonIsEnding } from '../../engine/season.ts';
import { Ledger } from '../../engine/tables/layout.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { AccountRow } from '../../engine/tables/units.ts';
import { readConfig } from '../../server/config/config.ts';
import { FileLog } from '../../storage/log/file-log.ts';
import { recover } from '../../storage/recovery/recover.ts';
import { SnapshotFiles } from '../../storage/snapshot/snapshots.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { SMALL_NODE, TestNode, temporaryDirectory, until } from '../common/node-harness.ts';
import { freshSeed, Random } from '../common/random.ts';
import { verified } from '../common/verified.ts';
import { houseOf } from '../liquidity/house.ts';

const UNIT = 1_000_000;
const WALLETS = 20_000;
const LINES = 500;
const START = 250;
/** Kills that must come in the middle. */
const KILLS = 4;
const RUNS_MAX = 60;
const ASKED_MAX = 20_000;
const SETTINGS = {
  LEDGER: 'on',
  ACCOUNTS_MAX: '32768',
  OPERATOR_IDS_MAX: '65536',
  OPEN_ORDERS_PER_WALLET: '2',
  RESULT_CODES: 'on',
};
const END = 'POST /admin/seasons/end';
const SEASON = { startSum: String(START), id: 'spring', name: 'Spring' };

const dataDir = temporaryDirectory();
const seed = freshSeed();
const random = new Random(seed);
let operator = await OperatorNode.start(dataDir, SETTINGS);

/** Time of the newest write of the log. */
function lastWrite(): number {
  const directory = join(dataDir, 'log');
  return Math.max(...readdirSync(directory).map((name) => statSync(join(directory, name)).mtimeMs));
}

/** Tables of the stopped node, by its snapshots and its log. */
async function stopped(): Promise<Tables> {
  const durability = 'committed';
  const options = { dataDir, durability, segmentBytes: 2 ** 18, log: () => undefined } as const;
  const log = await FileLog.open(options);
  const configured = readConfig({ ...SMALL_NODE, ...SETTINGS }, [], 1);
  assert(configured.ok);
  const { capacities } = configured.config;
  const files = new SnapshotFiles(dataDir, durability);
  const { engine } = recover(capacities, files, log, undefined, () => undefined);
  await log.close();
  audit(engine.t);
  return engine.t;
}

async function market(liquidity: string): Promise<{ condition: string; tokens: string[] }> {
  const { condition, tokens } = await operator.done('POST /admin/markets', {
    question: `A market with ${liquidity}?`,
    outcomes: ['Yes', 'No'],
    liquidity,
  });
  return { condition: String(condition), tokens: tokens as string[] };
}

test('kills in the middle of the end of a season leave each wallet with the start sum, and add nothing', async () => {
  for (let from = 0; from < WALLETS; from += LINES) {
    const lines = Array.from({ length: LINES }, (_, i) => ({
      line: from + i + 1,
      wallet: `0x${(from + i + 1).toString(16).padStart(40, '0')}`,
      amount: String(1 + ((from + i) % 400)),
    }));
    await operator.done('POST /admin/ledger/deposits', { id: 'people', lines });
  }
  const url = `http://127.0.0.1:${operator.node.port}`;
  const taker = Wallet.fromSeed('a taker of seasons');
  const client = await NodeClient.connect(url, { wallet: taker });
  const wallet = taker.address;
  await operator.done('POST /admin/ledger/deposit', { wallet, amount: '90' });
  const traded = await market('50');
  // Too little for one order of the minimum size.
  const small = await market('0.01');
  const buy = { tokenId: traded.tokens[0]!, side: 'BUY', price: '0.9', size: '10' } as const;
  await until(async () => (await houseOf(operator, traded.condition)).orders > 4);
  assert.equal((await client.orders.post({ ...buy, type: 'FAK' })).status, 'matched');
  const { condition } = traded;
  await operator.done('POST /admin/markets/resolve', { condition, payout: [1, 0] });
  await until(async () => (await operator.done('GET /admin/ledger')).resolving === 0);
  const house = await houseOf(operator, condition);

  const ticket = { ...buy, tokenId: small.tokens[0]! };
  const previewed = new Set<string | undefined>();
  const placed = new Set<string | undefined>();
  const watch = async (): Promise<void> => {
    for (let i = 0; ![previewed, placed].every((codes) => codes.has('SEASON_ENDING')); i++) {
      assert(i < ASKED_MAX, 'both refuse orders while the season ends');
      previewed.add((await client.orders.preview({ ...ticket, orderType: 'FAK' })).reason?.code);
      placed.add((await client.orders.post({ ...ticket, type: 'FAK' })).code);
    }
  };
  const [ending] = await Promise.all([operator.done(END, SEASON), watch()]);
  assert.equal(ending.state, 'ending');
  client.close();
  assert.deepEqual(previewed, new Set(['FAK_NOT_FILLED', 'SEASON_ENDING']));
  assert.deepEqual(placed, previewed, 'a preview foresees what the exchange answers');

  let { node } = operator;
  const stops: number[] = [];
  let tables: Tables;
  for (let run = 0; ; run++) {
    assert(run < RUNS_MAX, 'the season ends');
    await new Promise((resolve) => setTimeout(resolve, random.below(250)));
    await node.end('SIGKILL');
    tables = await stopped();
    const { imbalance } = ledgerTotals(tables);
    assert.equal(imbalance, 0, `SEED=${seed}`);
    if (!seasonIsEnding(tables)) break;
    stops.push(tables.ledger[Ledger.seasonNext]!);
    const before = lastWrite();
    node = TestNode.begin(dataDir, SETTINGS);
    // It goes on before its port opens.
    await until(() => lastWrite() > before || node.port !== 0);
  }
  assert(stops.length >= KILLS, `it was killed in the middle ${stops.length} times: SEED=${seed}`);
  const moved = stops.filter((next, i) => i > 0 && next > stops[i - 1]!).length;
  assert(moved > 0, 'a node that starts again goes on');

  const sums = new Map<string, number>();
  for (let row = 1 as AccountRow; row <= accountCount(tables); row++) {
    const sum = `${isHouse(tables, row) ? 'house' : 'wallet'} ${cashTotal(tables, row) / UNIT}`;
    sums.set(sum, (sums.get(sum) ?? 0) + 1);
  }
  const people = WALLETS + 1;
  assert.deepEqual(Object.fromEntries(sums), { [`wallet ${START}`]: people, 'house 0': 2 });
  const { cash, collateral, deposited, fees, rounding } = ledgerTotals(tables);
  assert.equal(cash, people * START * UNIT);
  assert.equal(cash + collateral + fees + rounding, deposited);

  await verified(dataDir, SETTINGS);
  operator = await OperatorNode.start(dataDir, SETTINGS);
  const again = await operator.done(END, SEASON);
  assert.deepEqual([again.season, again.repeated, again.state], [1, true, 'ended']);
  assert.equal((await operator.done('GET /admin/ledger')).seasons, 1);
  const { outcomes, paid_out: paidOut } = await houseOf(operator, condition);
  assert.equal(paidOut, house.cash, 'what the house had was paid out');
  assert.equal(outcomes[0]!.result, house.outcomes[0]!.result, 'its result stays');
  // The account of the next season holds exactly what is paid in.
  await operator.done('POST /admin/liquidity/add', { condition: small.condition, amount: '50' });
  const funded = await houseOf(operator, small.condition);
  assert.deepEqual([funded.cash, funded.paid_in, funded.paid_out], ['50', '50.01', '0.01']);
  await until(async () => (await houseOf(operator, small.condition)).orders > 4);
  await operator.node.stop();
});
