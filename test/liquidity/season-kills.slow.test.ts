/** The end of a season, on a whole node that is killed in the middle of it again and again. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { NodeClient, Wallet } from '../../client/client.ts';
import { audit } from '../../engine/audit.ts';
import { isHouse } from '../../engine/ledger/house.ts';
import { cashTotal, ledgerTotals } from '../../engine/ledger/reads.ts';
import { accountCount } from '../../engine/reads.ts';
import { seasonIsEnding } from '../../engine/season.ts';
import { RESOLVE_STEP_MAX } from '../../engine/tables/capacities.ts';
import { Ledger } from '../../engine/tables/layout.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { AccountRow } from '../../engine/tables/units.ts';
import { readConfig } from '../../server/config/config.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { SMALL_NODE, TestNode, temporaryDirectory, until } from '../common/node-harness.ts';
import { preloaded } from '../common/preloaded.ts';
import { freshSeed, Random } from '../common/random.ts';
import { verified } from '../common/verified.ts';
import { recoverFrom } from '../torture/simulated-node.ts';
import { houseOf } from './house.ts';

const UNIT = 1_000_000;
const WALLETS = 2_500;
const LINES = 500;
const START = 250;
/** Writes of the log in a life at most, and lives in the middle of the season at least. */
const WRITES_MAX = 4;
const KILLS = 4;
const SEGMENT_BYTES = 1 << 18;
const SETTINGS = {
  LEDGER: 'on',
  OPERATOR_IDS_MAX: '8192',
  OPEN_ORDERS_PER_WALLET: '2',
  RESULT_CODES: 'on',
  LOG_SEGMENT_BYTES: String(SEGMENT_BYTES),
};
const END = 'POST /admin/seasons/end';
const SEASON = { startSum: String(START), id: 'spring', name: 'Spring' };

useCompiledNodes();
const dataDir = temporaryDirectory();
const seed = freshSeed();
const random = new Random(seed);
let operator = await OperatorNode.start(dataDir, SETTINGS);

/** Tables of the stopped node, by its snapshots and its log. */
async function stopped(): Promise<Tables> {
  const configured = readConfig({ ...SMALL_NODE, ...SETTINGS }, [], 1);
  assert(configured.ok);
  const { capacities } = configured.config;
  const kept = { capacities, durability: 'flushed', segmentBytes: SEGMENT_BYTES } as const;
  const { t } = (await recoverFrom(dataDir, kept, true)).recovered.engine;
  audit(t);
  return t;
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
  const taker = Wallet.fromSeed('a taker of seasons');
  await operator.done('POST /admin/ledger/deposit', { wallet: taker.address, amount: '90' });
  const traded = await market('50');
  // Too little for one order of the minimum size.
  const small = await market('0.01');
  const { condition } = traded;
  const terms = { side: 'BUY', price: '0.9', size: '10' } as const;
  const join = () =>
    NodeClient.connect(`http://127.0.0.1:${operator.node.port}`, { wallet: taker });
  const buyer = await join();
  await until(async () => (await houseOf(operator, condition)).orders > 4);
  const bought = await buyer.orders.post({ ...terms, tokenId: traded.tokens[0]!, type: 'FAK' });
  assert.equal(bought.status, 'matched');
  buyer.close();
  await operator.done('POST /admin/markets/resolve', { condition, payout: [1, 0] });
  await until(async () => (await operator.done('GET /admin/ledger')).resolving === 0);
  const house = await houseOf(operator, condition);
  await operator.node.stop();

  // Slow writes of the log leave time for requests while the season ends.
  operator = await OperatorNode.start(dataDir, {
    ...SETTINGS,
    ...preloaded({ FAULT_WRITE_MS: '400' }),
  });
  const client = await join();
  assert.equal((await operator.done(END, SEASON)).state, 'ending');
  const ticket = { ...terms, tokenId: small.tokens[0]! };
  const preview = await client.orders.preview({ ...ticket, orderType: 'FAK' });
  const { code } = await client.orders.post({ ...ticket, type: 'FAK' });
  assert.deepEqual([preview.reason?.code, code], ['SEASON_ENDING', 'SEASON_ENDING']);
  client.close();
  await operator.node.end('SIGKILL');

  const stops: number[] = [];
  for (;;) {
    const tables = await stopped();
    assert(seasonIsEnding(tables), `SEED=${seed}`);
    const next = tables.ledger[Ledger.seasonNext]!;
    stops.push(next);
    if (accountCount(tables) - next < WRITES_MAX * RESOLVE_STEP_MAX) break;
    const kills = `${random.pick(['', '+'])}${random.between(1, WRITES_MAX)}`;
    const node = TestNode.begin(dataDir, {
      ...SETTINGS,
      ...preloaded({ FAULT_WRITE_KILLS: kills }),
    });
    await until(() => node.hasEnded);
  }
  assert(stops.length >= KILLS, `it was killed in the middle ${stops.length} times: SEED=${seed}`);

  operator = await OperatorNode.start(dataDir, SETTINGS);
  await until(async () => (await operator.done(END, SEASON)).state === 'ended');
  await operator.node.end('SIGKILL');
  const tables = await stopped();
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
