import assert from 'node:assert/strict';
import test from 'node:test';
import { ladderRows, Side } from '../../engine/book/matching.ts';
import {
  CommandBuffer,
  CommandKind,
  commandKind,
  commandWords,
  encodeConfigure,
  encodeResolve,
} from '../../engine/commands.ts';
import { RejectReason, type RejectReasonCode } from '../../engine/orders/reject-reasons.ts';
import { marketFees } from '../../engine/reads.ts';
import { MarketFlag } from '../../engine/tables/codes.ts';
import { MARKET_F, MARKET_I, Market, State } from '../../engine/tables/layout.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import { MarketInfos } from '../../server/catalog/market-info.ts';
import { marketCommands } from '../../server/catalog/market-registry.ts';
import { allocateSlots } from '../../server/orders/exchange-memory/slots.ts';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import { ROOMY } from '../engine/engine-driver.ts';
import { Exchange } from '../storage/stored-exchange.ts';

function market(n: number, change: Partial<CatalogMarket> = {}): CatalogMarket {
  return {
    id: String(n),
    question: `Question ${n}?`,
    conditionId: `0x${n.toString(16).padStart(64, '0')}`,
    slug: `question-${n}`,
    icon: '',
    outcomes: ['Yes', 'No'],
    tokenIds: [`${n}0001`, `${n}0002`],
    ticksPerUnit: 100,
    minSizeMicro: 5_000_000,
    negRisk: false,
    tradable: true,
    ended: false,
    eventId: '1',
    eventSlug: 'event',
    ...change,
  };
}

/** Brings an exchange up to a catalog; returns the rules and kinds of the commands, and warnings. */
function follow(
  context: Exchange,
  markets: readonly CatalogMarket[],
  endedConditions: readonly string[] = [],
  feesFromCatalog = false,
) {
  const warnings: string[] = [];
  const warn = (line: string) => warnings.push(line);
  const chunks = marketCommands(context.t, markets, warn, endedConditions, [], {
    feesFromCatalog,
    takesDelays: false,
  });
  const rules: RejectReasonCode[] = [];
  const kinds: number[] = [];
  const { engine } = context;
  for (const words of chunks) {
    const f64 = new Float64Array(words.buffer);
    engine.begin(engine.t.state[State.time]!, 0);
    for (let at = 0; at < words.length; at += commandWords(words, at)) {
      kinds.push(commandKind(words, at));
      rules.push(engine.apply(words, f64, at));
    }
    engine.end();
  }
  return { chunks: chunks.length, rules, kinds, warnings };
}

const { market: REGISTER, marketChange: CHANGE } = CommandKind;
const { feeSchedule: FEES } = CommandKind;
const NOTHING = { chunks: 0, rules: [], kinds: [], warnings: [] };

function termsOf({ t }: Exchange, slot: number) {
  const row = slot << MARKET_I;
  return {
    flags: t.marketI[row + Market.flags],
    ticksPerUnit: t.marketI[row + Market.ticksPerUnit],
    baseFeeBps: t.marketI[row + Market.baseFeeBps],
    minSize: t.marketF[(slot << MARKET_F) + Market.minSize],
  };
}

test('new markets are registered in the order of the catalog, and then nothing is left to do', () => {
  const context = new Exchange();
  const catalog = [
    market(3, { ticksPerUnit: 1_000, minSizeMicro: 1 }),
    market(1, { negRisk: true, tokenIds: ['7', '8', '9'], outcomes: ['A', 'B', 'C'] }),
    market(2, { tradable: false, ended: true }),
  ];
  const { rules, kinds, warnings } = follow(context, catalog);
  assert.deepEqual(rules, [RejectReason.accepted, RejectReason.accepted, RejectReason.accepted]);
  assert.deepEqual(kinds, [REGISTER, REGISTER, REGISTER]);
  assert.deepEqual(warnings, []);
  const { tradable, ended, negRisk } = MarketFlag;
  const base = { baseFeeBps: 0, ticksPerUnit: 100, minSize: 5_000_000 };
  assert.deepEqual(termsOf(context, 1), {
    ...base,
    flags: tradable,
    ticksPerUnit: 1_000,
    minSize: 1,
  });
  assert.deepEqual(termsOf(context, 2), { ...base, flags: tradable | negRisk });
  assert.deepEqual(termsOf(context, 3), { ...base, flags: ended });
  assert.equal(context.t.state[State.tokens], 7);
  assert.deepEqual(follow(context, catalog), NOTHING);
});

test('a difference becomes a change: tick, minimum size, opening and end', () => {
  const context = new Exchange();
  follow(context, [market(1), market(2)]);
  for (const change of [
    { ticksPerUnit: 1_000 },
    { ticksPerUnit: 1_000, minSizeMicro: 1_000_000 },
    { minSizeMicro: 1_000_000 },
    { tradable: false },
    { tradable: false, ended: true },
    {},
  ] as const) {
    const catalog = [market(1), market(2, change)];
    const { kinds, rules } = follow(context, catalog);
    assert.deepEqual([kinds, rules], [[CHANGE], [RejectReason.accepted]], JSON.stringify(change));
    const { flags, ticksPerUnit, minSize } = termsOf(context, 2);
    const wanted = market(2, change);
    assert.equal(ticksPerUnit, wanted.ticksPerUnit);
    assert.equal(minSize, wanted.minSizeMicro);
    assert.equal((flags! & MarketFlag.tradable) !== 0, wanted.tradable);
    assert.equal((flags! & MarketFlag.ended) !== 0, wanted.ended);
    assert.deepEqual(follow(context, catalog), NOTHING);
  }
});

test('a market that has resolved stays ended, and needs no command again', () => {
  const context = new Exchange({ ...ROOMY, positions: 16 });
  const { engine } = context;
  const apply = (encode: (out: CommandBuffer) => number): void => {
    const out = new CommandBuffer();
    engine.begin(1_000, 0);
    assert.equal(engine.apply(out.i32, out.f64, encode(out)), RejectReason.accepted);
    engine.end();
  };
  apply((out) => encodeConfigure(out, 0, ROOMY.history, 0, 0, 0, true));
  const catalog = [market(1)];
  follow(context, catalog);
  const id = { isOperator: true, ms: 1_000, key: new Int32Array(4) };
  apply((out) => encodeResolve(out, { id, market: 1 as MarketRow, weights: [1, 0] }));
  assert.equal(termsOf(context, 1).flags, MarketFlag.ended);
  assert.deepEqual(follow(context, catalog), NOTHING);
  follow(context, [market(1, { ticksPerUnit: 1_000 })]);
  assert.deepEqual(termsOf(context, 1).flags, MarketFlag.ended, 'whatever else changes');
});

test('a market closes although its new tick finds no room', () => {
  const context = new Exchange({ ...ROOMY, levels: ladderRows(100) });
  follow(context, [market(1)]);
  context.engine.begin(context.t.state[State.time]!, 0);
  context.t.matching.rest(1, Side.bid, 50, 1_000_000, 1);
  context.engine.end();
  const change = { tradable: false, ticksPerUnit: 1_000 } as const;
  const { kinds, rules } = follow(context, [market(1, change)]);
  assert.deepEqual(kinds, [CHANGE, CHANGE]);
  assert.deepEqual(rules, [RejectReason.accepted, RejectReason.tableFull]);
  assert.deepEqual(
    [termsOf(context, 1).flags, termsOf(context, 1).ticksPerUnit],
    [0, 100],
    'it takes no more orders',
  );
});

test('a token stays with its market, and another market that lists it gets no book', () => {
  const context = new Exchange();
  follow(context, [market(1)]);
  const thief = market(2, { tokenIds: ['20001', '10002'] });
  const { rules, warnings } = follow(context, [market(1), thief, market(3)]);
  assert.deepEqual(rules, [RejectReason.accepted], 'and the others are registered');
  assert.deepEqual(warnings, ['market 2 lists a token of another market; it gets no book']);
  assert.equal(context.t.state[State.markets], 2);
});

test('a change leaves the fee of the market as it is', () => {
  const context = new Exchange();
  follow(context, [market(1)]);
  context.t.marketI[(1 << MARKET_I) + Market.baseFeeBps] = 35;
  assert.deepEqual(follow(context, [market(1)]), NOTHING, 'a fee alone is no difference');
  follow(context, [market(1, { ticksPerUnit: 10 })]);
  assert.equal(termsOf(context, 1).baseFeeBps, 35);
});

test('a market with other tokens or another neg-risk flag stays unchanged, also when it is closed', () => {
  for (const change of [
    { negRisk: true },
    { tokenIds: ['10001', '5'] },
    { tokenIds: ['10001'] },
    { tokenIds: ['10001', '10002', '6'] },
  ]) {
    const context = new Exchange();
    follow(context, [market(1)]);
    const before = termsOf(context, 1);
    const line =
      'market 1: its tokens or neg-risk flag differ from those registered; it stays as it is';
    for (const other of [
      change,
      { ...change, tradable: false, ended: true, ticksPerUnit: 10 } as const,
    ]) {
      assert.deepEqual(follow(context, [market(1, other)]), { ...NOTHING, warnings: [line] });
      assert.deepEqual(termsOf(context, 1), before);
    }
    assert.equal(context.t.state[State.tokens], 2);
  }
});

test('the order of the outcomes is that of the registration, for any order of the catalog', () => {
  const context = new Exchange();
  follow(context, [market(1)]);
  const tokens = context.t.tokenI.slice();
  const turned = { tokenIds: ['10002', '10001'], outcomes: ['No', 'Yes'] };
  assert.deepEqual(follow(context, [market(1, turned)]), NOTHING);
  const { rules, warnings } = follow(context, [
    market(1, { ...turned, ended: true, tradable: false }),
  ]);
  assert.deepEqual([rules, warnings], [[RejectReason.accepted], []]);
  assert.equal(termsOf(context, 1).flags, MarketFlag.ended, 'its terms follow');
  assert.deepEqual(context.t.tokenI, tokens);
});

test('a skipped market is neither changed nor stopped', () => {
  const context = new Exchange();
  follow(context, [market(1), market(2)]);
  const before = [1, 2].map((slot) => termsOf(context, slot));
  const chunks = marketCommands(
    context.t,
    [],
    assert.fail,
    [],
    [market(1), market(2)].map(({ conditionId }) => conditionId),
  );
  assert.deepEqual(chunks, []);
  assert.deepEqual(
    [1, 2].map((slot) => termsOf(context, slot)),
    before,
  );
});

test('a market that the catalog no longer lists takes no orders until it is listed again', () => {
  const context = new Exchange();
  follow(context, [market(1, { negRisk: true }), market(2)]);
  const before = termsOf(context, 1);
  const without = follow(context, [market(2)]);
  assert.deepEqual([without.kinds, without.rules], [[CHANGE], [RejectReason.accepted]]);
  assert.deepEqual(termsOf(context, 1), { ...before, flags: MarketFlag.negRisk });
  assert.deepEqual(follow(context, [market(2)]), NOTHING, 'once only');
  follow(context, [market(1, { negRisk: true }), market(2)]);
  assert.deepEqual(termsOf(context, 1), before);
});

test('a market that ended without a book is ended once, with the terms that it had', () => {
  const context = new Exchange();
  const terms = { negRisk: true, ticksPerUnit: 1_000, minSizeMicro: 7 } as const;
  const three = [market(1), market(2, terms), market(3)];
  follow(context, three);
  context.t.marketI[(2 << MARKET_I) + Market.baseFeeBps] = 35;
  const before = [1, 2, 3].map((slot) => termsOf(context, slot));
  const unknown = market(4).conditionId;
  const end = [market(2).conditionId, unknown];
  const { kinds, rules, warnings } = follow(context, [market(1), market(3)], end);
  assert.deepEqual([kinds, rules, warnings], [[CHANGE], [RejectReason.accepted], []]);
  const flags = MarketFlag.ended | MarketFlag.negRisk;
  const after = [before[0], { ...before[1], flags }, before[2]];
  const now = () => [1, 2, 3].map((slot) => termsOf(context, slot));
  assert.deepEqual(now(), after);
  assert.deepEqual(follow(context, [market(1), market(3)], end), NOTHING, 'once only');
  assert.deepEqual(follow(context, [market(1), market(3)]), NOTHING, 'and gone from the catalog');
  assert.deepEqual(now(), after);
  follow(context, three);
  assert.deepEqual(now(), before, 'unless it is opened again');
});

test('a market that takes no orders any more can still end without a book', () => {
  const context = new Exchange();
  follow(context, [market(1)]);
  follow(context, []);
  assert.equal(termsOf(context, 1).flags, 0);
  const end = [market(1).conditionId];
  const { kinds, rules } = follow(context, [], end);
  assert.deepEqual([kinds, rules], [[CHANGE], [RejectReason.accepted]]);
  assert.equal(termsOf(context, 1).flags, MarketFlag.ended);
  assert.deepEqual(follow(context, [], end), NOTHING);
});

test('a market with more outcomes than a command can carry gets a warning instead of a book', () => {
  const context = new Exchange({ ...ROOMY, tokens: 200 });
  const tokens = (count: number) => Array.from({ length: count }, (_, i) => String(100 + i));
  const answer = follow(context, [
    market(1, { tokenIds: tokens(65) }),
    market(2, { tokenIds: tokens(64) }),
  ]);
  assert.deepEqual(answer.warnings, ['market 1 has 65 outcomes; it gets no book']);
  assert.deepEqual(answer.rules, [RejectReason.accepted]);
  assert.equal(context.t.state[State.tokens], 64);
});

test('a large catalog comes in chunks that do not hold up orders for long', () => {
  const context = new Exchange({ ...ROOMY, markets: 3_000, tokens: 6_000 });
  const catalog = Array.from({ length: 2_500 }, (_, i) => market(i + 1));
  const { chunks, rules } = follow(context, catalog);
  assert.equal(chunks, 3);
  assert.equal(rules.length, 2_500);
  assert(rules.every((reason) => reason === RejectReason.accepted));
  assert.deepEqual(follow(context, catalog), NOTHING);
  const changed = catalog.map((m, i) => (i % 2 === 0 ? { ...m, minSizeMicro: 7 } : m));
  assert.deepEqual(follow(context, changed).kinds, Array(1_250).fill(CHANGE));
});

test('any number of the widest markets comes in chunks that fit a slot', () => {
  const context = new Exchange({ ...ROOMY, markets: 1_100, tokens: 1_100 * 64 });
  const catalog = Array.from({ length: 1_100 }, (_, i) =>
    market(i + 1, { tokenIds: Array.from({ length: 64 }, (_, n) => `${i + 1}${1_000 + n}`) }),
  );
  const { rules } = follow(context, catalog);
  assert.equal(rules.length, 1_100);
  assert(rules.every((reason) => reason === RejectReason.accepted));
  const { sizes } = allocateSlots(1, 0, 1_024);
  const chunks = marketCommands(new Exchange().t, catalog, () => undefined);
  for (const { byteLength } of chunks) assert(byteLength <= sizes.logBytes, `${byteLength}`);
  assert(chunks.length < 12, 'and are not small');
});

test('the catalog entry of a market is found by its slot, and follows a new catalog', () => {
  const context = new Exchange();
  follow(context, [market(1), market(0xbeef)]);
  const infos = new MarketInfos(context.t);
  const find = (slot: number) => infos.find(slot as MarketRow);
  assert.equal(find(1), undefined, 'before there is a catalog');
  const catalog = (...markets: CatalogMarket[]) => {
    const byCondition = new Map(markets.map((listed) => [listed.conditionId, listed]));
    return (conditionId: string) => byCondition.get(conditionId);
  };
  infos.replace(catalog(market(0xbeef), market(1)));
  assert.equal(find(1)?.slug, 'question-1');
  assert.equal(find(2)?.slug, `question-${0xbeef}`);
  for (const slot of [0, -1, 3]) assert.equal(find(slot), undefined);
  const pinned = infos.pinnedLookup();
  infos.replace(catalog(market(1, { slug: 'renamed' })));
  assert.equal(find(1)?.slug, 'renamed');
  assert.equal(find(2), undefined, 'a market that left the catalog has no text');
  assert.deepEqual(
    [1, 2].map((slot) => pinned(slot as MarketRow)?.slug),
    ['question-1', `question-${0xbeef}`],
    'a pinned look-up goes on to read the catalog before',
  );
});

const CRYPTO = { rate: 70_000, exponent: 1, rebate: 200_000 };
const FLAT = { rate: 10_000, exponent: 0, rebate: 0 };
const NONE = { rate: 0, exponent: 0, rebate: 0 };

test('stated fee schedules become terms where the rules say so, and none where none is stated', () => {
  const context = new Exchange();
  const catalog = [market(1, { statedFees: CRYPTO }), market(2)];
  assert.deepEqual(follow(context, catalog).kinds, [REGISTER, REGISTER]);
  const { kinds, rules } = follow(context, catalog, [], true);
  assert.deepEqual([kinds, rules], [[FEES], [RejectReason.accepted]]);
  assert.deepEqual(marketFees(context.t, 1 as MarketRow), CRYPTO);
  assert.deepEqual(follow(context, catalog, [], true), NOTHING);
  assert.deepEqual(follow(context, catalog), NOTHING, 'the rule was turned off: they stay');
  assert.deepEqual(follow(context, [market(1), market(2)], [], true).kinds, [FEES]);
  assert.deepEqual(marketFees(context.t, 1 as MarketRow), NONE);
  const later = [...catalog.slice(1), market(3, { statedFees: CRYPTO })];
  assert.deepEqual(follow(new Exchange(), later, [], true).kinds, [REGISTER, REGISTER, FEES]);
});

test('the schedule of an operator comes before a stated one', () => {
  const context = new Exchange();
  follow(context, [market(1, { fees: FLAT, statedFees: CRYPTO })], [], true);
  assert.deepEqual(marketFees(context.t, 1 as MarketRow), FLAT);
  follow(context, [market(1, { fees: NONE, statedFees: CRYPTO })], [], true);
  assert.deepEqual(marketFees(context.t, 1 as MarketRow), NONE);
});

test('tick and schedule change together in either direction, and one that a sale cannot pay is left out', () => {
  const context = new Exchange();
  const finer = { rate: 1_000, exponent: 0, rebate: 0 };
  follow(context, [market(1, { fees: FLAT })]);
  for (const [ticksPerUnit, fees] of [
    [1_000, finer],
    [100, FLAT],
  ] as const) {
    const { rules, warnings } = follow(context, [market(1, { fees, ticksPerUnit })]);
    assert(rules.every((rule) => rule === RejectReason.accepted));
    assert.deepEqual(warnings, []);
    assert.deepEqual(marketFees(context.t, 1 as MarketRow), fees);
    assert.equal(termsOf(context, 1).ticksPerUnit, ticksPerUnit);
  }
  const { rules, warnings } = follow(context, [market(1, { fees: FLAT, ticksPerUnit: 10_000 })]);
  assert(rules.every((rule) => rule === RejectReason.accepted));
  assert.match(warnings.join(), /its fee schedule could take more than a sale/);
  assert.deepEqual(marketFees(context.t, 1 as MarketRow), NONE);
});
