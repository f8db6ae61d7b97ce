/**
 * Refusals of orders: every rule, the order of the rules, wallets, sizes
 * (docs/protocol.md#order-of-checks).
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { CommandBuffer, encodeMarket } from '../../engine/commands.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { MarketFlag } from '../../engine/tables/codes.ts';
import type { MicroShares } from '../../engine/tables/units.ts';
import { check, type Duel } from './duel.ts';
import { EngineDriver, idWords } from './engine-driver.ts';
import type { OrderLine } from './naive-types.ts';

const MAX = 2n ** 53n - 1n;

const plain: OrderLine = {
  kind: 'order',
  id: 1,
  token: 1,
  side: 'BUY',
  type: 'GTC',
  postOnly: false,
  shares: 10_000_000n,
  collateral: 5_000_000n,
  expiration: 0,
  feeRateBps: 1_000,
  maker: 1,
  signer: 1,
  signatureType: 0,
  faults: [],
};

/** Rules in the order of their checks, each with one way to break it. */
const BREAKS: readonly (readonly [keyof typeof RejectReason, (line: OrderLine) => OrderLine])[] = [
  ['ownerMismatch', (o) => ({ ...o, faults: [...o.faults, 'foreign-key'] })],
  ['conditionUnknown', (o) => ({ ...o, faults: [...o.faults, 'unknown-condition'] })],
  ['tokenOfOtherCondition', (o) => ({ ...o, faults: [...o.faults, 'other-condition'] })],
  ['duplicate', (o) => ({ ...o, faults: [...o.faults, 'known'] })],
  ['marketNotReady', (o) => ({ ...o, token: 3 })],
  ['amountsNotPositive', (o) => ({ ...o, collateral: -o.collateral })],
  ['expirationInvalid', (o) => ({ ...o, expiration: 1_000 })],
  ['feeBelowBase', (o) => ({ ...o, feeRateBps: 9 })],
  ['takerNotPublic', (o) => ({ ...o, faults: [...o.faults, 'private'] })],
  ['tick', (o) => ({ ...o, collateral: o.collateral + (o.collateral < 0n ? -1n : 1n) })],
  ['sizeBelowMinimum', (o) => ({ ...o, shares: 1_000_000n, collateral: o.collateral / 10n })],
  ['signature', (o) => ({ ...o, faults: [...o.faults, 'forged'] })],
  ['binding', (o) => ({ ...o, maker: 50, signatureType: 2 })],
  ['postOnlyCrossesAsk', (o) => ({ ...o, postOnly: true })],
];

function preparedDuel(): Duel {
  return check(`
    at 1000
    market 1 fee 10 min 5
    market 2 fee 10 min 5
    change 2 paused
    sell #900 50 @ 0.50 by 40 fee 10
    buy #901 5 @ 0.10 by 50/49 fee 10   rests
  `);
}

test('every rule refuses by its own name, the earlier one when two are broken', () => {
  const duel = preparedDuel();
  BREAKS.forEach(([first, breakFirst], i) => {
    assert.equal(duel.step(breakFirst(plain)).reason, RejectReason[first], first);
    for (const [second, breakSecond] of BREAKS.slice(i + 1)) {
      const { reason } = duel.step(breakFirst(breakSecond(plain)));
      assert.equal(reason, RejectReason[first], `${first} before ${second}`);
    }
  });
  assert.equal(duel.step(plain).reason, RejectReason.accepted, 'and without a fault it is taken');
});

test('both amounts must be positive', () => {
  const duel = preparedDuel();
  for (const [shares, collateral] of [
    [0n, 5n],
    [5n, 0n],
    [-5n, 5n],
    [5n, -5n],
    [0n, 0n],
  ] as const) {
    const { reason } = duel.step({ ...plain, shares, collateral });
    assert.equal(reason, RejectReason.amountsNotPositive);
  }
});

test('a fee is neither negative, nor below the base fee, nor above a tenth', () => {
  check(`
    change 1 fee 20           done
    buy #1 5 @ 0.50 fee -1    refused feeNegative
    buy #2 5 @ 0.50 fee 19    refused feeBelowBase
    buy #3 5 @ 0.50 fee 1001  refused feeTooHigh
    buy #4 5 @ 0.50 fee 1000  rests
    buy #5 5 @ 0.50 fee 20    rests
  `);
});

test('a price lies strictly between zero and one unit, on the tick', () => {
  check(`
    buy #1 5 @ 1              refused tick
    buy #2 5 for 5.05         refused tick
    buy #3 5 @ 0.005          refused tick
    buy #4 5 @ 0.01           rests
    sell #5 5 @ 0.99          rests
    buy #6 5 for 2.500001     refused tick
    buy #7 0.000003 for 0.000001   refused tick
    buy #8 0.000004 for 0.000001   rests
    buy #9 1 @ 1 FAK          refused tick
  `);
});

test('immediate orders may be rounded as clients round, and need no exact tick', () => {
  check(`
    sell #1 294.1176 @ 0.34   rests
    buy #2 294.1176 for 100 FOK   fills #1 294.1176 @ 0.34, gives 99.999984, gets 294.1176
    sell #3 10 @ 0.34         rests
    buy #4 10 for 3.4021 FOK  refused tick
    buy #5 10 for 3.402 FOK   fills #3 10 @ 0.34, gives 3.4
  `);
});

test('the nearest tick never crosses the signed price', () => {
  check(`
    sell #1 10 @ 0.34         rests
    buy #2 10 for 3.3999 FOK  refused fokUnfilled
    sell #3 10 @ 0.33         rests
    buy #2 10 for 3.3999 FOK  fills #3 10 @ 0.33, gives 3.3
    buy #4 10 @ 0.32          rests
    sell #5 10 for 3.2001 FOK   refused fokUnfilled
    sell #6 10 for 3.2 FOK      fills #4 10 @ 0.32
  `);
});

test('the minimum size counts shares, for every type', () => {
  check(`
    change 1 min 5            done
    sell #1 5 @ 0.50          rests
    buy #3 4.99 @ 0.50        refused sizeBelowMinimum
    buy #4 4.99 @ 0.50 FOK    refused sizeBelowMinimum
    buy #5 4.99 @ 0.50 FAK    refused sizeBelowMinimum
    buy #6 5 @ 0.50 FOK       fills #1 5 @ 0.5
  `);
});

test('a wallet keeps the signer that signed for it first', () => {
  check(`
    buy #1 5 @ 0.40 by 7/1    rests
    buy #2 5 @ 0.40 by 7/2    refused binding
    buy #3 5 @ 0.40 by 7/1 type 2   rests
    buy #4 5 @ 0.40 by 8/1    rests
  `);
});

test('a refused order binds no wallet', () => {
  check(`
    buy #1 5 @ 0.405 by 7/1   refused tick
    buy #2 5 @ 0.40 by 7/1 FOK   refused fokUnfilled
    buy #3 5 @ 0.40 by 7/2    rests
    buy #4 5 @ 0.40 by 7/1    refused binding
  `);
});

test('a wallet that signs for itself is bound to itself and never refused', () => {
  check(`
    buy #1 5 @ 0.40 by 7/1    rests
    buy #2 5 @ 0.40 by 7      rests
    buy #3 5 @ 0.40 by 7/1    refused binding
    buy #4 5 @ 0.40 by 1      rests
    buy #5 5 @ 0.40 by 1/7    refused binding
    buy #6 5 @ 0.40 by 7/7 type 1   rests
  `);
});

test('a wallet that follows from its signer belongs to it, also after another one came first', () => {
  check(`
    buy #1 5 @ 0.40 by 7/1           rests
    buy #2 5 @ 0.40 by 7/2           refused binding
    buy #3 5 @ 0.40 by 7/2 derived   rests
    buy #4 5 @ 0.40 by 7/1           refused binding
    buy #5 5 @ 0.40 by 7/2           rests
    cancel #1 by 1                   ends #1 canceled
  `);
});

test('shares and collateral go up to 2^53 - 1, and not beyond', () => {
  const duel = check('change 1 grid 10');
  const largest = (MAX / 10n) * 10n;
  const line = { ...plain, shares: largest, collateral: largest / 2n };
  assert.equal(duel.step({ ...line, shares: MAX + 1n }).reason, RejectReason.sizeAboveMaximum);
  assert.equal(duel.step({ ...line, collateral: MAX + 1n }).reason, RejectReason.sizeAboveMaximum);
  assert.equal(duel.step(line).reason, RejectReason.accepted);
  const more = { ...line, id: 2, shares: 10n, collateral: 5n };
  assert.equal(
    duel.step(more).reason,
    RejectReason.sizeAboveMaximum,
    'the level would pass the bound',
  );
  assert.equal(
    duel.step({ ...more, collateral: 4n }).reason,
    RejectReason.accepted,
    'another level has room',
  );
  const seller = { ...line, id: 3, side: 'SELL', type: 'FOK', maker: 9, signer: 9 } as const;
  const { reason, fills } = duel.step(seller);
  assert.equal(reason, RejectReason.accepted);
  assert.equal(fills[0]?.size, Number(largest), 'and all of it trades exactly');
  duel.compareAll();
  duel.checkConservation();
});

test('size that matches at once does not count towards the total of a level', () => {
  const duel = check('change 1 grid 10');
  const lot = (MAX / 20n) * 10n;
  const side = (id: number, sells: boolean, shares: bigint): OrderLine => ({
    ...plain,
    id,
    maker: id,
    signer: id,
    side: sells ? 'SELL' : 'BUY',
    shares,
    collateral: shares / 2n,
  });
  assert.equal(duel.step(side(1, true, 2n * lot)).reason, RejectReason.accepted);
  assert.equal(
    duel.step(side(2, false, 2n * lot)).reason,
    RejectReason.accepted,
    'it trades instead',
  );
  assert.equal(duel.step(side(3, true, lot)).reason, RejectReason.accepted);
  assert.equal(
    duel.step(side(4, false, 2n * lot)).reason,
    RejectReason.accepted,
    'half of it rests',
  );
  assert.equal(duel.step(side(5, false, 2n * lot)).reason, RejectReason.sizeAboveMaximum);
  assert.equal(
    duel.step({ ...side(6, false, 2n * lot), type: 'FAK' }).reason,
    RejectReason.fakUnfilled,
  );
  duel.compareAll();
});

test('a market with the id of a token that exists, or one id twice, is refused', () => {
  const driver = new EngineDriver();
  const buffer = new CommandBuffer();
  const fields = {
    flags: MarketFlag.tradable,
    ticksPerUnit: 100,
    baseFeeBps: 0,
    minSize: 0 as MicroShares,
  } as const;
  const register = (condition: number, ...tokens: number[]): number => {
    buffer.clear();
    const at = encodeMarket(buffer, fields, idWords(condition), tokens.map(idWords));
    return driver.engine.apply(buffer.i32, buffer.f64, at);
  };
  driver.run({ kind: 'at', time: 0 });
  assert.equal(register(1, 10, 11), RejectReason.accepted);
  assert.equal(register(2, 12, 11), RejectReason.marketRefused, 'token 11 belongs to market 1');
  assert.equal(register(2, 12, 12), RejectReason.marketRefused, 'one token twice');
  assert.equal(register(2, 12, 13, 12), RejectReason.marketRefused, 'first and last alike');
  assert.equal(register(1, 20, 21), RejectReason.marketRefused, 'the condition is taken');
  assert.equal(register(2, 12, 13, 14), RejectReason.accepted);
});
