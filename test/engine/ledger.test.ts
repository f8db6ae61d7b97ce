/** The ledger, rule by rule (docs/ledger.md). Every command also runs on the naive ledger. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { audit } from '../../engine/audit.ts';
import {
  CommandBuffer,
  CommandKind,
  ConfigureCommand,
  commandKind,
  encodeConfigure,
  encodeFunds,
  encodeResolve,
  type FundsKind,
  requestKind,
} from '../../engine/commands.ts';
import {
  ledgerIsOn,
  ledgerTotals,
  marketCollateral,
  nextDeadline,
  nextResolving,
  proposalOf,
  resolutionOf,
  venueShares,
} from '../../engine/ledger/reads.ts';
import { findRequest } from '../../engine/ledger/requests.ts';
import { rebuildIndexes } from '../../engine/orders/rebuild.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { engineSettings } from '../../engine/reads.ts';
import { onlyHouseHinders } from '../../engine/season.ts';
import {
  CANCEL_ORDERS_MAX,
  REQUESTS_KEPT,
  REVIEW_MS_MAX,
  SIGNER_ORDERS_WALKED_MAX,
} from '../../engine/tables/capacities.ts';
import { State } from '../../engine/tables/layout.ts';
import { stateHash } from '../../engine/tables/state-hash.ts';
import { allocateEngine, Tables } from '../../engine/tables/tables.ts';
import type { MarketRow, TokenRow } from '../../engine/tables/units.ts';
import { ROOT } from '../common/root.ts';
import { copyTables } from './copy-tables.ts';
import { addressWords, EngineDriver, ROOMY, replay } from './engine-driver.ts';
import { WITH_LEDGER } from './ledger-duel.ts';
import { LedgerScript, UNIT } from './ledger-script.ts';
import { ScriptReader } from './script.ts';

const YES = 1 as TokenRow;
const MARKET = 1 as MarketRow;

function exampleRows(): number[][] {
  const text = readFileSync(join(ROOT, 'docs/ledger.md'), 'utf8');
  const [, table = ''] = /^\| step \|.*\n.*\n((?:\|.*\n)+)/m.exec(text) ?? [];
  const rows = table.trim().split('\n');
  return rows.map((row) => {
    const cells = row.split('|').slice(2, -1);
    return cells.map((cell) => Number(cell.trim().replaceAll(',', '')));
  });
}

test('the end of a season pays out and in what wallets have beside the start sum, and nothing else', () => {
  const script = new LedgerScript();
  script
    .fund('deposit', 1, 700 * UNIT)
    .fund('deposit', 2, 50 * UNIT)
    .fund('deposit', 3, 9 * UNIT);
  script.fund('withdraw', 3, 9 * UNIT);
  // It signs for wallet 2 and has nothing itself.
  script.fund('declare', 2, 0, { signer: 4 });
  script.do('buy #1 10 @ 0.50 by 1', 'buy #2 10 @ 0.50 No by 2/4 type 1');
  script.resolve([1, 0]);
  script.finish();
  script.endSeason(200 * UNIT, 3);
  const cash = [1, 2, 3, 4].map((wallet) => script.cash(wallet)[0] / UNIT);
  assert.deepEqual(cash, [200, 200, 200, 0]);
  assert.equal(ledgerTotals(script.t).deposited, 600 * UNIT);
  script.duel.compareAll();
  audit(script.t);
});

test('a season does not end while anything is held, open, proposed or under way', () => {
  const script = new LedgerScript();
  script.fund('deposit', 1, 100 * UNIT).fund('deposit', 2, 100 * UNIT);
  const { accepted, seasonBusy } = RejectReason;
  const isBusy = (what: string) => assert.equal(script.season(UNIT), seasonBusy, what);
  script.do('buy #1 1 @ 0.50 by 1');
  isBusy('an order');
  script.do('cancel #1 by 1').fund('split', 1, UNIT);
  isBusy('a position');
  script.fund('merge', 1, UNIT);
  script.resolve([1, 0], { review: 1_000 });
  isBusy('a proposal');
  script.withdrawProposal(1);
  script.resolve([1, 0]);
  isBusy('a resolution');
  script.finish();
  assert.equal(script.season(UNIT), accepted);
});

test('an account of the house keeps a season from its end until it has no cash, and then stays without', () => {
  const script = new LedgerScript();
  const { accepted, seasonBusy } = RejectReason;
  script.fund('deposit', 1, 100 * UNIT).fund('deposit', 2, 100 * UNIT);
  script.house(1);
  assert.equal(script.season(50 * UNIT), seasonBusy);
  assert(onlyHouseHinders(script.t));
  script.do('buy #1 1 @ 0.50 by 2');
  assert(!onlyHouseHinders(script.t), 'an order hinders, too');
  script.do('cancel #1 by 2').fund('withdraw', 1, 100 * UNIT);
  assert(!onlyHouseHinders(script.t), 'nothing hinders');
  script.endSeason(50 * UNIT, 3);
  assert.deepEqual([script.cash(1)[0], script.cash(2)[0]], [0, 50 * UNIT]);
  assert.equal(ledgerTotals(script.t).deposited, 50 * UNIT);
  // In the next season its account holds exactly what is paid in.
  script.fund('deposit', 1, 7 * UNIT);
  assert.equal(script.cash(1)[0], 7 * UNIT);
  assert.equal(script.house(1), accepted);
  script.duel.compareAll();
  audit(script.t);
});

test('limits of wallets bind a wallet, and no account of the house', () => {
  const limits = { openOrdersPerWallet: 1, exposurePerWallet: 10 * UNIT };
  const script = new LedgerScript(WITH_LEDGER, limits);
  const { exposureTooHigh, tooManyOpen, walletUnknown } = RejectReason;
  assert.equal(script.house(1), walletUnknown);
  script.fund('deposit', 1, 100 * UNIT).fund('deposit', 2, 100 * UNIT);
  script.do('buy #1 10 @ 0.50 by 1', 'buy #2 10 @ 0.50 by 2');
  assert.equal(script.reason('buy #3 10 @ 0.40 by 1'), tooManyOpen);
  script.house(1);
  script.do('buy #4 10 @ 0.40 by 1', 'buy #5 40 @ 0.50 by 1');
  assert.equal(script.reason('buy #6 1 @ 0.40 by 2'), tooManyOpen);
  assert.equal(script.reason('buy #7 40 @ 0.50 by 2'), exposureTooHigh);
  script.duel.compareAll();
  audit(script.t);
});

test('a configuration of an older log has the limits of wallets in itself', () => {
  const script = new LedgerScript();
  script.duel.driver.apply((out) => {
    const { openOrdersPerWallet, wordsWithLimits } = ConfigureCommand;
    const at = out.begin(CommandKind.configure, wordsWithLimits);
    out.f64.set([3, 40 * UNIT], at / 2 + openOrdersPerWallet);
    return at;
  });
  const { exposurePerWallet, openOrdersPerWallet } = engineSettings(script.t);
  assert.deepEqual([openOrdersPerWallet, exposurePerWallet], [3, 40 * UNIT]);
});

test('the last step of a season is of a later millisecond than its last trade may be', () => {
  const script = new LedgerScript();
  script.fund('deposit', 1, 100 * UNIT);
  assert.equal(script.season(UNIT), RejectReason.accepted);
  for (let i = 0; i < 3; i++) script.duel.step({ kind: 'seasonStep', limit: 10 });
  assert.equal(script.ask('deposit', 1, UNIT), RejectReason.seasonEnding);
  script.do('at 2.001');
  script.duel.step({ kind: 'seasonStep', limit: 10 });
  script.fund('deposit', 1, UNIT);
});

test('the engine gives the worked example of the page, row by row', () => {
  const script = new LedgerScript();
  const shown: number[][] = [];
  const show = (): void => {
    const { fees } = ledgerTotals(script.t);
    const cash = [script.cash(1)[0], script.cash(2)[0]];
    const shares = [1, 2].flatMap((wallet) =>
      [1, 2].map((token) => script.shares(wallet, token)[0]),
    );
    const collateral = marketCollateral(script.t, MARKET);
    shown.push([...cash, ...shares, collateral, fees, venueShares(script.t, YES)]);
  };
  script.do('change 1 fee 200');
  script.fund('deposit', 1, 100 * UNIT).fund('deposit', 2, 50 * UNIT);
  show();
  script.fund('split', 1, 10 * UNIT);
  show();
  script.do('sell #1 4 @ 0.50 by 1 fee 200', 'buy #2 4 @ 0.50 by 2 fee 200');
  show();
  script.do('buy #3 5 @ 0.40 No by 1 fee 200', 'buy #4 5 @ 0.60 by 2 fee 200');
  show();
  script.do('sell #5 2 @ 0.30 No by 1 fee 200', 'sell #6 2 @ 0.70 by 2 fee 200');
  show();
  script.fund('merge', 1, 6 * UNIT);
  show();
  assert.equal(script.resolve([1, 0]), RejectReason.accepted);
  script.finish();
  show();
  script.duel.compareAll();
  assert.deepEqual(shown, exampleRows());
  for (const row of shown) assert.equal(row[0]! + row[1]! + row[6]! + row[7]!, 150 * UNIT);
});

test('a BUY reserves the cost of its rest, and price improvement is free at once', () => {
  const script = new LedgerScript().fund('deposit', 1, 100 * UNIT).fund('deposit', 2, 40 * UNIT);
  script.fund('split', 2, 40 * UNIT).do('sell #1 40 @ 0.55 by 2');
  assert.deepEqual(script.shares(2, 1), [40 * UNIT, 40 * UNIT]);
  script.do('buy #2 100 @ 0.60 by 1');
  assert.deepEqual(script.cash(1), [78 * UNIT, 36 * UNIT]);
  script.do('cancel #2 by 1');
  assert.deepEqual(script.cash(1), [78 * UNIT, 0]);
  script.duel.compareAll();
});

test('a budget that rounding has used up reserves nothing, and the venue pays the shortfall', () => {
  const script = new LedgerScript().do('change 1 grid 10');
  for (const wallet of [1, 3, 5]) script.fund('deposit', wallet, 10);
  for (const wallet of [2, 4, 6]) script.fund('deposit', wallet, 5).fund('split', wallet, 5);
  // Two buyers of No with one micro-share left each: who mints with one pays a whole micro-unit.
  script.do('buy #1 0.000004 @ 0.5 No', 'sell #2 0.000003 for 0.000001 No FAK');
  script.do('buy #3 0.000005 @ 0.6 No', 'sell #4 0.000004 @ 0.5 No FAK');
  script.do('buy #5 0.000004 @ 0.5');
  assert.deepEqual(script.cash(5), [8, 0], 'its rest could cost one, and it may pay none');
  script.do('sell #6 0.000002 @ 0.5');
  assert.deepEqual(
    [script.cash(5), script.cash(6)],
    [
      [8, 0],
      [1, 0],
    ],
  );
  assert.equal(ledgerTotals(script.t).rounding, -1);
  script.duel.compareAll();
});

test('orders of a batch count one after the other, and immediate ones reserve nothing', () => {
  const script = new LedgerScript().fund('deposit', 1, 10 * UNIT).do('buy #1 10 @ 0.60 by 1');
  assert.equal(script.reason('buy #2 10 @ 0.50 by 1'), RejectReason.notEnough);
  assert.equal(script.reason('buy #3 10 @ 0.50 by 1 FAK'), RejectReason.notEnough);
  script.do('buy #4 10 @ 0.40 by 1');
  assert.deepEqual(script.cash(1), [10 * UNIT, 10 * UNIT]);
  assert.equal(script.ask('withdraw', 1, 1), RejectReason.notEnough, 'only what is free');
  script.do('cancel #1 by 1').fund('withdraw', 1, 6 * UNIT);
  assert.equal(script.reason('sell #5 1 @ 0.50 by 1'), RejectReason.notEnough);
  script.fund('deposit', 2, 10 * UNIT).fund('split', 2, 10 * UNIT);
  script.do('sell #6 5 @ 0.40 by 2 FAK');
  assert.deepEqual(script.cash(2), [2 * UNIT, 0]);
  assert.deepEqual(script.shares(2, 1), [5 * UNIT, 0]);
  assert.deepEqual(script.cash(1), [2 * UNIT, 2 * UNIT]);
  script.duel.compareAll();
});

test('money that a command would free by self-trade does not count for it', () => {
  const script = new LedgerScript().fund('deposit', 1, 10 * UNIT).fund('split', 1, 4 * UNIT);
  script.do('policy cancel-maker', 'buy #1 10 @ 0.60 No by 1');
  assert.equal(script.reason('buy #2 1 @ 0.50 by 1'), RejectReason.notEnough);
  script.do('sell #3 4 @ 0.50 by 1');
  assert.equal(script.reason('sell #4 1 @ 0.40 by 1'), RejectReason.notEnough);
  script.duel.compareAll();
});

test('every end of an order frees the rest', () => {
  const script = new LedgerScript().fund('deposit', 1, 100 * UNIT).fund('split', 1, 20 * UNIT);
  script.do('market 2', 'market 3');
  script.do('buy #1 10 @ 0.60 by 1', 'buy #2 10 @ 0.60 by 1 GTD until 10', 'at 11');
  assert.deepEqual(script.cash(1), [80 * UNIT, 6 * UNIT], 'it has expired');
  script.do('buy #3 10 @ 0.55 token 3 by 1', 'change 2 ended');
  assert.deepEqual(script.cash(1), [80 * UNIT, 6 * UNIT], 'its market has ended');
  script.do('buy #4 10 @ 0.55 token 5 by 1', 'change 3 grid 10');
  assert.deepEqual(script.cash(1), [80 * UNIT, 6 * UNIT], 'it was off the grid');
  script.do('policy cancel-maker', 'sell #5 10 @ 0.55 by 1');
  assert.deepEqual(script.cash(1), [80 * UNIT, 0], 'it met its own account');
  script.do('buy #6 10 @ 0.50 by 1', 'cancel-all by 1');
  assert.deepEqual(
    [script.cash(1), script.shares(1, 1)],
    [
      [80 * UNIT, 0],
      [20 * UNIT, 0],
    ],
  );
  script.duel.compareAll();
});

test('types 1 and 2 need a derived or declared right to the wallet', () => {
  const script = new LedgerScript().fund('deposit', 9, 10 * UNIT);
  assert.equal(script.reason('buy #1 1 @ 0.50 by 9/1'), RejectReason.binding);
  script.do('buy #2 1 @ 0.50 by 9/1 derived');
  script.fund('deposit', 8, 10 * UNIT, { signer: 2 });
  assert.equal(script.reason('buy #3 1 @ 0.50 by 8/1'), RejectReason.binding);
  script.do('buy #4 1 @ 0.50 by 8/2').fund('declare', 8, 0, { signer: 1 });
  script
    .do('buy #5 1 @ 0.50 by 8/1')
    .fund('deposit', 3, 10 * UNIT)
    .do('buy #6 1 @ 0.50 by 3');
  assert.equal(script.ask('declare', 3, 0, { signer: 1 }), RejectReason.bindingConflict);
  assert.equal(script.ask('deposit', 3, 1, { signer: 1 }), RejectReason.bindingConflict);
  script.duel.compareAll();
});

test('bad input is refused by name and changes nothing', () => {
  const script = new LedgerScript().fund('deposit', 1, 10 * UNIT).fund('split', 1, UNIT);
  script.do('buy #1 10 @ 0.50 by 1');
  script.duel.settle();
  const before = stateHash(script.t);
  for (const amount of [0, -1, 1.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY]) {
    for (const kind of ['deposit', 'withdraw', 'split', 'merge'] as const) {
      assert.equal(script.ask(kind, 1, amount), RejectReason.amountInvalid, `${kind} ${amount}`);
    }
  }
  assert.equal(script.ask('deposit', 1, 2 ** 53 - 1), RejectReason.depositsTooLarge);
  assert.equal(script.ask('withdraw', 7, 1), RejectReason.walletUnknown);
  assert.equal(script.ask('split', 7, 1), RejectReason.walletUnknown);
  assert.equal(script.ask('split', 1, 1, { market: 2 }), RejectReason.marketUnknown);
  assert.equal(script.ask('merge', 1, 1, { market: 0 }), RejectReason.marketUnknown);
  assert.equal(script.ask('split', 1, 5 * UNIT), RejectReason.notEnough);
  assert.equal(script.ask('merge', 1, 2 * UNIT), RejectReason.notEnough);
  assert.equal(script.ask('declare', 1, 0), RejectReason.walletUnknown);
  const soon = { isOperator: true, ms: 2_000 + 300_001, key: 5 };
  assert.equal(script.ask('deposit', 1, 1, { id: soon }), RejectReason.idInvalid);
  for (const weights of [[1], [1, 0, 0], [0, 0], [-1, 2], [0.5, 0.5], [10_000, 1], [2 ** 32, 1]]) {
    assert.equal(script.resolve(weights), RejectReason.payoutInvalid, String(weights));
  }
  assert.equal(script.resolve([1, 0], { isVoid: true }), RejectReason.payoutInvalid);
  assert.equal(script.resolve([1, 0], { market: 2 }), RejectReason.marketUnknown);
  script.duel.settle();
  assert.equal(stateHash(script.t), before);
  script.duel.compareAll();
});

test('a request is applied once; with another body it is a conflict', () => {
  const script = new LedgerScript();
  const line = script.line('deposit', 1, 5 * UNIT);
  assert.equal(script.duel.step(line), RejectReason.accepted);
  script.fund('deposit', 1, UNIT);
  assert.equal(script.duel.step(line), RejectReason.idRepeated);
  assert.equal(script.duel.step({ ...line, amount: 5 }), RejectReason.idConflict);
  assert.equal(script.duel.step({ ...line, wallet: 2 }), RejectReason.idConflict);
  assert.equal(script.duel.step({ ...line, kind: 'withdraw' }), RejectReason.idConflict);
  const withdrawal = script.line('withdraw', 1, UNIT, { signer: 9 });
  assert.equal(script.duel.step(withdrawal), RejectReason.accepted);
  script.fund('deposit', 9, UNIT);
  assert.equal(script.duel.step(withdrawal), RejectReason.idRepeated, 'it has no signer');
  const ofUser = { ...line, id: { ...line.id, isOperator: false } };
  assert.equal(script.duel.step(ofUser), RejectReason.accepted, 'users have ids of their own');
  script.duel.driver.apply((out) => {
    const id = { isOperator: true, ms: line.id.ms, key: Int32Array.of(1, -2, 7, 9) };
    const at = encodeFunds(out, 'deposit', { id, wallet: addressWords(1), amount: 5 * UNIT });
    const { amount, result, time } = findRequest(script.t, out.i32, out.f64, at, 2_000)!;
    assert.deepEqual([amount, result, time], [5 * UNIT, 5 * UNIT, 2_000]);
    return at;
  });
  script.duel.compareAll();
});

test('an id that is not later than a dropped one is refused', () => {
  const driver = new EngineDriver(WITH_LEDGER);
  driver.hasLedger = true;
  driver.run({ kind: 'at', time: 1_000 });
  driver.run({ kind: 'policy', policy: 'allow' });
  const { context } = driver.engine;
  const wallet = addressWords(1);
  const key = new Int32Array(4);
  const deposit = (ms: number, n: number, isOperator = true): number =>
    driver.apply((out) => {
      key[0] = n;
      return encodeFunds(out, 'deposit', { id: { isOperator, ms, key }, wallet, amount: 1 });
    });
  for (let n = 0; n < REQUESTS_KEPT + 2; n++) {
    // What the driver logs is not what is tested.
    context.changes = 0;
    assert.equal(deposit(n < 2 ? 10 + n : 20, n), RejectReason.accepted);
  }
  assert.equal(deposit(10, 0), RejectReason.idTooOld);
  assert.equal(deposit(11, 1), RejectReason.idTooOld);
  assert.equal(deposit(11, REQUESTS_KEPT + 5), RejectReason.idTooOld);
  assert.equal(deposit(20, 2), RejectReason.idRepeated, 'the oldest that is kept');
  assert.equal(deposit(12, REQUESTS_KEPT + 5), RejectReason.accepted);
  assert.equal(deposit(10, 0, false), RejectReason.accepted, 'operators use up no id of users');
  driver.close();
  const copy = new Tables(allocateEngine(WITH_LEDGER));
  copyTables(driver.t, copy);
  rebuildIndexes(copy);
  assert.equal(stateHash(copy), stateHash(driver.t), 'the ring comes round in a copy, too');
  audit(copy);
});

const text = (key: number) => ({ id: { isOperator: true, isText: true, ms: 0, key } }) as const;
const DAYS = 86_400;

test('an id that is a text is kept for 400 days of batch time, and is then a new one', () => {
  const script = new LedgerScript();
  script.fund('deposit', 1, 5 * UNIT, text(1));
  assert.equal(script.ask('deposit', 1, 5 * UNIT, text(1)), RejectReason.idRepeated);
  assert.equal(script.ask('deposit', 1, 6 * UNIT, text(1)), RejectReason.idConflict);
  assert.equal(script.ask('withdraw', 1, 5 * UNIT, text(1)), RejectReason.idConflict);
  script.fund('deposit', 1, UNIT, { id: { isOperator: true, ms: 5, key: 1 } });
  script.do(`at ${2 + 400 * DAYS - 1}`);
  assert.equal(script.ask('deposit', 1, 5 * UNIT, text(1)), RejectReason.idRepeated);
  script.do(`at ${2 + 400 * DAYS}`).fund('deposit', 1, 7 * UNIT, text(1));
  assert.equal(script.ask('deposit', 1, 5 * UNIT, text(1)), RejectReason.idConflict);
  assert.equal(script.ask('deposit', 1, 7 * UNIT, text(1)), RejectReason.idRepeated);
  assert.deepEqual(script.cash(1), [13 * UNIT, 0]);
  script.duel.compareAll();
});

test('a resolution and a declaration have texts as ids, too', () => {
  const script = new LedgerScript().fund('deposit', 1, UNIT);
  script.fund('declare', 1, 0, { ...text(1), signer: 2 });
  assert.equal(script.ask('declare', 1, 0, { ...text(1), signer: 2 }), RejectReason.idRepeated);
  assert.equal(script.ask('declare', 1, 0, { ...text(1), signer: 3 }), RejectReason.idConflict);
  assert.equal(script.resolve([1, 0], text(1)), RejectReason.idConflict);
  assert.equal(script.resolve([1, 0], text(2)), RejectReason.accepted);
  assert.equal(script.resolve([1, 0], text(2)), RejectReason.idRepeated);
  assert.equal(script.resolve([0, 1], text(2)), RejectReason.idConflict);
  script.finish();
  script.duel.compareAll();
});

test('a full table of texts refuses, drops nothing early, and has room again when the oldest expire', () => {
  const script = new LedgerScript({ ...WITH_LEDGER, operatorIds: 100 });
  for (let key = 1; key <= 100; key++) script.fund('deposit', 1, key, text(key));
  script.do(`at ${300 * DAYS}`);
  const before = stateHash(script.t);
  assert.equal(script.ask('deposit', 1, 1, text(101)), RejectReason.idsFull);
  assert.equal(script.resolve([1, 0], text(102)), RejectReason.idsFull);
  assert.equal(script.ask('deposit', 1, 1, text(1)), RejectReason.idRepeated, 'the oldest is kept');
  script.duel.settle();
  assert.equal(stateHash(script.t), before, 'a refusal changes nothing');
  script.fund('deposit', 1, 1, { id: { isOperator: true, ms: 5, key: 1 } });
  script.fund('split', 1, 1, { id: { isOperator: false, ms: 5, key: 1 } });
  script.do(`at ${2 + 400 * DAYS}`);
  for (let key = 101; key <= 200; key++) script.fund('deposit', 1, key, text(key));
  assert.equal(script.ask('deposit', 1, 1, text(201)), RejectReason.idsFull);
  script.duel.compareAll();
});

test('an older version names the kind of a command whose id is a text, and of no other command', () => {
  const out = new CommandBuffer();
  const fields = { wallet: addressWords(1), amount: 1 };
  const key = Int32Array.of(1, 2, 3, 4);
  const at = encodeFunds(out, 'deposit', { ...fields, id: { isOperator: true, ms: 1, key } });
  assert.equal(commandKind(out.i32, at), CommandKind.deposit);
  const next = encodeFunds(out, 'deposit', {
    ...fields,
    id: { isOperator: true, ms: undefined, key },
  });
  assert.equal(commandKind(out.i32, next), CommandKind.textId);
  assert.equal(requestKind(out.i32, next), CommandKind.deposit);
});

test('fees go to a wallet or out of the ledger, up to their total', () => {
  const script = new LedgerScript().do('change 1 fee 200');
  script
    .fund('deposit', 1, 100 * UNIT)
    .fund('deposit', 2, 100 * UNIT)
    .fund('split', 1, 20 * UNIT);
  script.do('buy #1 10 @ 0.50 by 2 fee 200', 'sell #2 10 @ 0.50 by 1 fee 200');
  assert.equal(ledgerTotals(script.t).fees, 100_000);
  assert.equal(script.ask('payFees', 3, 100_001), RejectReason.notEnough);
  assert.equal(script.ask('drawFees', 0, 100_001), RejectReason.notEnough);
  assert.equal(script.ask('payFees', 3, 0), RejectReason.amountInvalid);
  const { deposited, entries } = ledgerTotals(script.t);
  script.fund('payFees', 3, 60_000, text(1)).fund('drawFees', 0, 30_000, text(2));
  assert.equal(script.ask('payFees', 3, 60_000, text(1)), RejectReason.idRepeated);
  assert.equal(
    script.ask('drawFees', 3, 30_000, text(2)),
    RejectReason.idRepeated,
    'it has no wallet',
  );
  assert.equal(script.ask('drawFees', 0, 30_000, text(1)), RejectReason.idConflict);
  assert.deepEqual(script.cash(3), [60_000, 0]);
  const after = ledgerTotals(script.t);
  assert.deepEqual([after.fees, after.deposited], [10_000, deposited - 30_000]);
  assert.equal(after.entries, entries + 3);
  script.duel.compareAll();
});

test('a replaced signer loses its open orders for the wallet, and no others', () => {
  const script = new LedgerScript().fund('deposit', 8, 10 * UNIT, { signer: 2 });
  script.fund('deposit', 9, 10 * UNIT, { signer: 2 }).fund('deposit', 2, 10 * UNIT);
  script.do('buy #1 1 @ 0.50 by 8/2', 'buy #2 2 @ 0.50 by 8/2', 'buy #3 1 @ 0.50 by 9/2');
  script.do('buy #4 1 @ 0.50 by 2').fund('declare', 8, 0, { signer: 2 });
  assert.deepEqual(script.cash(8), [10 * UNIT, 1_500_000], 'the same signer again ends nothing');
  script.fund('declare', 8, 0, { signer: 3 });
  assert.deepEqual(script.cash(8), [10 * UNIT, 0]);
  assert.deepEqual([script.cash(9)[1], script.cash(2)[1]], [500_000, 500_000]);
  assert.equal(script.reason('buy #5 1 @ 0.50 by 8/2'), RejectReason.binding);
  script.do('buy #6 1 @ 0.50 by 8/3').fund('deposit', 8, 1, { signer: 8 });
  assert.deepEqual(script.cash(8), [10 * UNIT + 1, 0], 'a wallet that gets its own key again');
  script.duel.compareAll();
});

test('a wallet that signs for itself leaves the orders of its declared signer open', () => {
  const script = new LedgerScript().fund('deposit', 8, 10 * UNIT, { signer: 2 });
  script.do('buy #1 1 @ 0.50 by 8/2', 'buy #2 1 @ 0.50 by 8');
  assert.deepEqual(script.cash(8), [10 * UNIT, UNIT]);
  assert.equal(script.reason('buy #3 1 @ 0.50 by 8/2'), RejectReason.binding);
  script.do('cancel #1 by 2');
  script.duel.compareAll();
});

test('a signer with too many open orders is not replaced before they are cancelled', () => {
  const driver = new EngineDriver({ ...WITH_LEDGER, orders: 2 ** 17 });
  driver.hasLedger = true;
  const reader = new ScriptReader();
  const run = (...lines: string[]) => lines.map((line) => driver.run(reader.read(line)).reason);
  run('at 2', 'policy allow', 'market 1');
  let key = 0;
  const fund = (kind: FundsKind, wallet: number, signer = 0) =>
    driver.apply((out) =>
      encodeFunds(out, kind, {
        id: { isOperator: true, ms: 1_000, key: Int32Array.of(++key, 0, 0, 0) },
        wallet: addressWords(wallet),
        amount: 100_000 * UNIT,
        ...(signer === 0 ? {} : { signer: addressWords(signer) }),
      }),
    );
  assert.deepEqual([fund('deposit', 8, 2), fund('deposit', 2)], [0, 0]);
  const place = (first: number, count: number, by: string): void => {
    for (let n = first; n < first + count; n++) {
      assert.deepEqual(run(`buy #${n} 1 @ 0.50 by ${by}`), [RejectReason.accepted]);
    }
  };
  place(1, CANCEL_ORDERS_MAX + 1, '8/2');
  driver.settle();
  const before = stateHash(driver.t);
  assert.equal(fund('declare', 8, 3), RejectReason.signerHasOrders);
  driver.settle();
  assert.equal(stateHash(driver.t), before);
  run('cancel #1 by 2');
  assert.equal(fund('declare', 8, 3), RejectReason.accepted);
  assert.equal(driver.t.state[State.openOrders], 0);
  fund('declare', 8, 2);
  run('buy #79000 1 @ 0.40 No by 2');
  place(80_000, CANCEL_ORDERS_MAX - 1, '8/2');
  const delayed = ['buy #79001 1 @ 0.60 by 8/2 delay 9', 'buy #79002 1 @ 0.60 by 8/2 delay 9'];
  assert.deepEqual(run(...delayed), [RejectReason.accepted, RejectReason.accepted]);
  assert.equal(fund('declare', 8, 3), RejectReason.signerHasOrders, 'orders that wait count');
  run('cancel #79001 by 2', 'cancel #79000 by 2');
  assert.equal(fund('declare', 8, 3), RejectReason.accepted);
  assert.equal(driver.t.state[State.openOrders]! + driver.t.delayed.size, 0);
  fund('declare', 8, 2);
  place(2_000, 1, '8/2');
  place(3_000, SIGNER_ORDERS_WALKED_MAX, '2');
  assert.equal(fund('declare', 8, 3), RejectReason.signerHasOrders);
  run('cancel #3000 by 2');
  assert.equal(fund('declare', 8, 3), RejectReason.accepted);
  assert.equal(driver.t.state[State.openOrders], SIGNER_ORDERS_WALKED_MAX - 1);
});

function crowded(wallets: number): LedgerScript {
  const script = new LedgerScript();
  for (let wallet = 1; wallet <= wallets; wallet++) {
    script.fund('deposit', wallet, 20 * UNIT).fund('split', wallet, 10 * UNIT + wallet);
    script.do(`buy #${2 * wallet} 5 @ 0.40 by ${wallet}`);
    script.do(`sell #${2 * wallet + 1} 5 @ 0.60 by ${wallet}`);
  }
  return script;
}

test('a resolution ends orders, then pays a bounded number of wallets in each step', () => {
  const script = crowded(25);
  assert.equal(script.resolve([1, 2]), RejectReason.accepted);
  assert.equal(script.reason('buy #99 5 @ 0.40 by 1'), RejectReason.marketNotReady);
  assert.equal(script.ask('split', 1, 1), RejectReason.marketResolved);
  assert.equal(script.resolve([1, 2]), RejectReason.accepted, 'the same again');
  assert.equal(script.resolve([2, 1]), RejectReason.marketResolved);
  assert.equal(script.resolve([1, 2], { isVoid: true }), RejectReason.payoutInvalid);
  assert.equal(script.finish(10), 5 + 3 + 1);
  assert.deepEqual(resolutionOf(script.t, MARKET)?.weights, [1, 2]);
  assert.equal(marketCollateral(script.t, MARKET), 0);
  script.do('change 1 open');
  assert.equal(script.reason('buy #99 5 @ 0.40 by 1'), RejectReason.marketNotReady, 'for good');
  script.duel.compareAll();
});

test('a node that stops between any two steps continues with the next one', () => {
  const script = crowded(6);
  const { driver } = script.duel;
  script.resolve([3, 1]);
  const stops: { tables: Tables; batches: number }[] = [];
  const stop = (): void => {
    script.duel.settle();
    const tables = new Tables(allocateEngine(WITH_LEDGER));
    copyTables(script.t, tables);
    stops.push({ tables, batches: driver.logged.length });
  };
  for (stop(); ledgerTotals(script.t).resolving > 0; stop()) {
    script.duel.step({ kind: 'step', market: 1, limit: 1 });
  }
  assert.equal(stops.length, 1 + 12 + 6 + 1);
  const end = stateHash(script.t);
  for (const { batches, tables } of stops) {
    rebuildIndexes(tables);
    audit(tables);
    const rest = replay(driver.logged.slice(batches), WITH_LEDGER, tables);
    assert.equal(stateHash(rest.t), end);
  }
});

test('a void market pays equal parts, and the rounding remainder goes to the venue', () => {
  const script = new LedgerScript().fund('deposit', 1, 3).fund('deposit', 2, 1);
  script.fund('split', 1, 3);
  script.do('sell #1 0.000002 @ 0.50 No by 1', 'buy #2 0.000002 @ 0.50 No by 2');
  assert.equal(script.resolve([1, 1], { isVoid: true }), RejectReason.accepted);
  script.finish();
  const { cash, rounding } = ledgerTotals(script.t);
  assert.deepEqual([script.cash(1)[0], script.cash(2)[0], cash, rounding], [2, 1, 3, 1]);
  assert.equal(resolutionOf(script.t, MARKET)?.isVoid, true);
  script.duel.compareAll();
});

test('at most one market of a group resolves to its first outcome', () => {
  const script = new LedgerScript().do('market 2', 'market 3', 'market 4');
  const inGroup = { group: 7 };
  assert.equal(script.resolve([0, 1], { market: 1, ...inGroup }), RejectReason.accepted);
  assert.equal(script.resolve([5, 0], { market: 2, ...inGroup }), RejectReason.accepted);
  assert.equal(script.resolve([1, 0], { market: 3, ...inGroup }), RejectReason.groupHasWinner);
  assert.equal(script.resolve([0, 1], { market: 3, ...inGroup }), RejectReason.accepted);
  assert.equal(script.resolve([1, 0], { market: 4, group: 8 }), RejectReason.accepted);
  script.finish();
  script.duel.compareAll();
});

test('an order without room for its position is refused, and a sweep never meets a full table', () => {
  const script = new LedgerScript({ ...WITH_LEDGER, positions: 4 });
  for (const wallet of [1, 2, 3]) script.fund('deposit', wallet, 20 * UNIT);
  script.fund('split', 1, 10 * UNIT).do('sell #1 5 @ 0.60 by 1', 'buy #2 5 @ 0.50 by 2');
  script.do('buy #3 5 @ 0.30 No by 3');
  script.duel.settle();
  const before = stateHash(script.t);
  assert.equal(script.reason('buy #4 5 @ 0.40 by 3'), RejectReason.tableFull);
  assert.equal(script.ask('split', 2, 1), RejectReason.tableFull);
  script.duel.settle();
  assert.equal(stateHash(script.t), before);
  script.do('sell #5 5 @ 0.50 by 1', 'buy #6 5 @ 0.60 by 2', 'sell #7 5 @ 0.30 No by 1');
  assert.deepEqual(script.shares(3, 2), [5 * UNIT, 0]);
  script.duel.compareAll();
});

test('commands of the ledger are refused without one, and only the first batch turns it on', () => {
  const run = (positions: number) => {
    const driver = new EngineDriver({ ...ROOMY, positions });
    driver.run({ kind: 'at', time: 1_000 });
    driver.run({ kind: 'policy', policy: 'allow' });
    driver.settle();
    return driver;
  };
  const [none, room] = [run(0), run(100)];
  assert.equal(stateHash(none.t), stateHash(room.t));
  const id = { isOperator: true, ms: 1, key: new Int32Array(4) };
  const wallet = addressWords(1);
  const refused = room.apply((out) => encodeFunds(out, 'deposit', { id, wallet, amount: 1 }));
  assert.equal(refused, RejectReason.ledgerOff);
  const weights = [1, 0];
  const not = room.apply((out) => encodeResolve(out, { id, market: MARKET, weights }));
  assert.equal(not, RejectReason.ledgerOff);
  room.apply((out) => encodeConfigure(out, 0, 100, 0, 0, 0, true));
  assert.equal(ledgerIsOn(room.t), false);
  const [first, full] = [new EngineDriver(WITH_LEDGER), new EngineDriver(ROOMY)];
  for (const driver of [first, full]) driver.run({ kind: 'at', time: 1_000 });
  const on = (driver: EngineDriver) =>
    driver.apply((out) => encodeConfigure(out, 0, 100, 0, 0, 0, true));
  assert.equal(on(full), RejectReason.tableFull, 'there is no room for one');
  assert.equal(on(first), RejectReason.accepted);
  assert.equal(first.t.state[State.ledger], 1);
});

const REVIEW = { review: 60_000 };

test('a proposed payout halts its market at once, and is paid by the first batch at the deadline', () => {
  const script = crowded(6);
  script.do('at 1000');
  const cash = ledgerTotals(script.t).cash;
  assert.equal(script.resolve([1, 0], REVIEW), RejectReason.accepted);
  assert.equal(script.reason('buy #99 5 @ 0.40 by 1'), RejectReason.marketNotReady);
  assert.equal(resolutionOf(script.t, MARKET), undefined);
  assert.equal(proposalOf(script.t, MARKET)?.deadline, 1_060_000);
  script
    .do('cancel #2 by 1')
    .fund('split', 1, 1 * UNIT)
    .fund('merge', 1, 1 * UNIT);
  script.do('at 1059.999');
  assert.equal(nextResolving(script.t), 0, 'not before its deadline');
  assert.equal(ledgerTotals(script.t).cash, cash);
  script.do('at 1060');
  assert.deepEqual([nextResolving(script.t), proposalOf(script.t, MARKET)], [MARKET, undefined]);
  script.finish();
  assert.deepEqual(resolutionOf(script.t, MARKET)?.weights, [1, 0]);
  assert.equal(marketCollateral(script.t, MARKET), 0);
  script.do('change 1 open');
  assert.equal(script.reason('buy #99 5 @ 0.40 by 1'), RejectReason.marketNotReady, 'for good');
  script.duel.compareAll();
});

test('a market whose proposal is withdrawn trades as it would have without it', () => {
  const script = new LedgerScript().do('market 2');
  script.fund('deposit', 1, 20 * UNIT);
  const withdraw = (market = 1) => script.withdrawProposal(market);
  assert.equal(withdraw(), RejectReason.proposalUnknown);
  script.resolve([1, 0], REVIEW);
  assert.equal(withdraw(), RejectReason.accepted);
  script.do('buy #1 5 @ 0.40 by 1');
  assert.equal(withdraw(), RejectReason.proposalUnknown);
  script.do('at 2000');
  assert.equal(nextResolving(script.t), 0, 'its deadline means nothing any more');
  script.resolve([1, 0], REVIEW);
  script.do('change 1 paused');
  withdraw();
  assert.equal(script.reason('buy #2 5 @ 0.40 by 1'), RejectReason.marketNotReady, 'halted since');
  script.do('change 1 open', 'buy #3 5 @ 0.40 by 1');
  script.do('change 2 paused');
  script.resolve([0, 1], { market: 2, ...REVIEW });
  script.do('change 2 open');
  const ofSecond = 'buy #4 5 @ 0.40 token 3 by 1';
  assert.equal(script.reason(ofSecond), RejectReason.marketNotReady, 'a proposal halts it still');
  withdraw(2);
  script.do(ofSecond);
  script.resolve([0, 1], { market: 2, ...REVIEW });
  script.do('change 2 ended');
  withdraw(2);
  assert.equal(
    script.reason('buy #5 5 @ 0.40 token 3 by 1'),
    RejectReason.marketNotReady,
    'ended since',
  );
  script.duel.compareAll();
});

test('a proposed market refuses a second proposal, a payout, and another winner of its group', () => {
  const script = new LedgerScript().do('market 2');
  assert.equal(script.resolve([1, 0], { ...REVIEW, group: 7 }), RejectReason.accepted);
  for (const more of [{}, REVIEW]) {
    assert.equal(script.resolve([1, 0], more), RejectReason.marketProposed);
    const other = script.resolve([1, 0], { market: 2, group: 7, ...more });
    assert.equal(other, RejectReason.groupHasWinner);
  }
  for (const review of [0, -1, 0.5, Number.NaN, REVIEW_MS_MAX + 1]) {
    assert.equal(script.resolve([1, 0], { market: 2, review }), RejectReason.reviewInvalid);
  }
  script.withdrawProposal(1);
  assert.equal(script.resolve([1, 0], { market: 2, group: 7 }), RejectReason.accepted);
  assert.equal(script.resolve([1, 0], { ...REVIEW, group: 7 }), RejectReason.groupHasWinner);
  assert.equal(script.resolve([0, 1], { group: 7 }), RejectReason.accepted);
  assert.equal(script.resolve([0, 1], REVIEW), RejectReason.marketResolved);
  assert.equal(script.withdrawProposal(1), RejectReason.marketResolved);
  script.finish();
  script.duel.compareAll();
});

test('a proposal with the id of an earlier one is answered as repeated, in any state of it', () => {
  const script = new LedgerScript();
  const id = { isOperator: true, ms: 1_000, key: 77 };
  const again = (more = {}) => script.resolve([1, 0], { ...REVIEW, id, ...more });
  assert.equal(again(), RejectReason.accepted);
  assert.equal(again(), RejectReason.idRepeated);
  for (const more of [{ review: 60_001 }, { weights: [0, 1] }, { review: undefined }]) {
    assert.equal(again(more), RejectReason.idConflict, JSON.stringify(more));
  }
  script.withdrawProposal(1);
  assert.equal(again(), RejectReason.idRepeated);
  assert.equal(proposalOf(script.t, MARKET), undefined, 'it stays withdrawn');
  script.resolve([0, 1], REVIEW);
  assert.equal(again(), RejectReason.idRepeated, 'also where another payout is proposed since');
  script.do('at 1000').finish();
  assert.equal(again(), RejectReason.idRepeated);
  script.duel.compareAll();
});

test('proposals that are due at one time begin in one batch, and the next deadline is that of another', () => {
  const script = new LedgerScript().do('market 2', 'market 3', 'at 1000');
  for (const [market, review] of [
    [1, 3_000],
    [2, 9_000],
    [3, 2_000],
  ] as const) {
    script.resolve([1, 0], { market, review });
  }
  script.do('at 1005');
  const { proposals, resolving } = ledgerTotals(script.t);
  assert.deepEqual([proposals, resolving, nextDeadline(script.t)], [1, 2, 1_009_000]);
  assert.equal(script.withdrawProposal(2), RejectReason.accepted);
  assert.equal(nextDeadline(script.t), 0);
  script.finish();
  script.duel.compareAll();
});
