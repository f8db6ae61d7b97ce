/** The engine's markets follow the catalog: registered once, changed where they differ. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { ladderRows, Side } from '../../engine/book/matching.ts';
import { CommandKind, commandKind, commandWords } from '../../engine/commands.ts';
import { Rule, type RuleCode } from '../../engine/orders/reject-reasons.ts';
import { MARKET_F, MARKET_I, Market, MarketFlag, State } from '../../engine/tables/layout.ts';
import type { MarketSlot } from '../../engine/tables/units.ts';
import { MarketInfos, marketCommands } from '../../server/catalog/market-registry.ts';
import { allocateSlots } from '../../server/orders/slots.ts';
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
  exchange: Exchange,
  markets: readonly CatalogMarket[],
  endedConditions: readonly string[] = [],
) {
  const warnings: string[] = [];
  const warn = (line: string) => warnings.push(line);
  const chunks = marketCommands(exchange.t, markets, warn, endedConditions);
  const rules: RuleCode[] = [];
  const kinds: number[] = [];
  const { engine } = exchange;
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
  const exchange = new Exchange();
  const catalog = [
    market(3, { ticksPerUnit: 1_000, minSizeMicro: 1 }),
    market(1, { negRisk: true, tokenIds: ['7', '8', '9'], outcomes: ['A', 'B', 'C'] }),
    market(2, { tradable: false, ended: true }),
  ];
  const { rules, kinds, warnings } = follow(exchange, catalog);
  assert.deepEqual(rules, [Rule.accepted, Rule.accepted, Rule.accepted]);
  assert.deepEqual(kinds, [REGISTER, REGISTER, REGISTER]);
  assert.deepEqual(warnings, []);
  const { tradable, ended, negRisk } = MarketFlag;
  const base = { baseFeeBps: 0, ticksPerUnit: 100, minSize: 5_000_000 };
  assert.deepEqual(termsOf(exchange, 1), {
    ...base,
    flags: tradable,
    ticksPerUnit: 1_000,
    minSize: 1,
  });
  assert.deepEqual(termsOf(exchange, 2), { ...base, flags: tradable | negRisk });
  assert.deepEqual(termsOf(exchange, 3), { ...base, flags: ended });
  assert.equal(exchange.t.state[State.tokens], 7);
  assert.deepEqual(follow(exchange, catalog), NOTHING);
});

test('what differs becomes a change: tick, minimum size, opening and end', () => {
  const exchange = new Exchange();
  follow(exchange, [market(1), market(2)]);
  for (const change of [
    { ticksPerUnit: 1_000 },
    { ticksPerUnit: 1_000, minSizeMicro: 1_000_000 },
    { minSizeMicro: 1_000_000 },
    { tradable: false },
    { tradable: false, ended: true },
    {},
  ] as const) {
    const catalog = [market(1), market(2, change)];
    const { kinds, rules } = follow(exchange, catalog);
    assert.deepEqual([kinds, rules], [[CHANGE], [Rule.accepted]], JSON.stringify(change));
    const { flags, ticksPerUnit, minSize } = termsOf(exchange, 2);
    const wanted = market(2, change);
    assert.equal(ticksPerUnit, wanted.ticksPerUnit);
    assert.equal(minSize, wanted.minSizeMicro);
    assert.equal((flags! & MarketFlag.tradable) !== 0, wanted.tradable);
    assert.equal((flags! & MarketFlag.ended) !== 0, wanted.ended);
    assert.deepEqual(follow(exchange, catalog), NOTHING);
  }
});

test('a market closes although its new tick finds no room', () => {
  const exchange = new Exchange({ ...ROOMY, levels: ladderRows(100) });
  follow(exchange, [market(1)]);
  exchange.engine.begin(exchange.t.state[State.time]!, 0);
  exchange.t.matching.rest(1, Side.bid, 50, 1_000_000, 1);
  exchange.engine.end();
  const change = { tradable: false, ticksPerUnit: 1_000 } as const;
  const { kinds, rules } = follow(exchange, [market(1, change)]);
  assert.deepEqual(kinds, [CHANGE, CHANGE]);
  assert.deepEqual(rules, [Rule.accepted, Rule.tableFull]);
  assert.deepEqual(
    [termsOf(exchange, 1).flags, termsOf(exchange, 1).ticksPerUnit],
    [0, 100],
    'it takes no more orders',
  );
});

test('a token stays with the market that has it: another one that lists it gets no book', () => {
  const exchange = new Exchange();
  follow(exchange, [market(1)]);
  const thief = market(2, { tokenIds: ['20001', '10002'] });
  const { rules, warnings } = follow(exchange, [market(1), thief, market(3)]);
  assert.deepEqual(rules, [Rule.accepted], 'and the others are registered');
  assert.deepEqual(warnings, ['market 2 lists a token of another market; it gets no book']);
  assert.equal(exchange.t.state[State.markets], 2);
});

test('a change keeps the fee that the market has', () => {
  const exchange = new Exchange();
  follow(exchange, [market(1)]);
  exchange.t.marketI[(1 << MARKET_I) + Market.baseFeeBps] = 35;
  assert.deepEqual(follow(exchange, [market(1)]), NOTHING, 'a fee alone is no difference');
  follow(exchange, [market(1, { ticksPerUnit: 10 })]);
  assert.equal(termsOf(exchange, 1).baseFeeBps, 35);
});

test('tokens and the neg-risk flag never change: a warning, and the rest of the market follows', () => {
  for (const change of [
    { negRisk: true },
    { tokenIds: ['10001', '5'] },
    { tokenIds: ['10002', '10001'] },
    { tokenIds: ['10001'] },
    { tokenIds: ['10001', '10002', '6'] },
  ]) {
    const exchange = new Exchange();
    follow(exchange, [market(1)]);
    const before = termsOf(exchange, 1);
    const line = 'market 1: its tokens or neg-risk flag differ from those registered; kept';
    assert.deepEqual(follow(exchange, [market(1, change)]), { ...NOTHING, warnings: [line] });
    assert.deepEqual(termsOf(exchange, 1), before);
    const closed = follow(exchange, [market(1, { ...change, tradable: false, ended: true })]);
    assert.deepEqual([closed.rules, closed.warnings], [[Rule.accepted], [line]]);
    assert.deepEqual(termsOf(exchange, 1), { ...before, flags: MarketFlag.ended });
    assert.equal(exchange.t.state[State.tokens], 2);
  }
});

test('a market that the catalog no longer lists takes no orders until it is listed again', () => {
  const exchange = new Exchange();
  follow(exchange, [market(1, { negRisk: true }), market(2)]);
  const before = termsOf(exchange, 1);
  const without = follow(exchange, [market(2)]);
  assert.deepEqual([without.kinds, without.rules], [[CHANGE], [Rule.accepted]]);
  assert.deepEqual(termsOf(exchange, 1), { ...before, flags: MarketFlag.negRisk });
  assert.deepEqual(follow(exchange, [market(2)]), NOTHING, 'once only');
  follow(exchange, [market(1, { negRisk: true }), market(2)]);
  assert.deepEqual(termsOf(exchange, 1), before);
});

test('a market that ended without a book is ended once, with the terms that it had', () => {
  const exchange = new Exchange();
  const terms = { negRisk: true, ticksPerUnit: 1_000, minSizeMicro: 7 } as const;
  const three = [market(1), market(2, terms), market(3)];
  follow(exchange, three);
  exchange.t.marketI[(2 << MARKET_I) + Market.baseFeeBps] = 35;
  const before = [1, 2, 3].map((slot) => termsOf(exchange, slot));
  const unknown = market(4).conditionId;
  const end = [market(2).conditionId, unknown];
  const { kinds, rules, warnings } = follow(exchange, [market(1), market(3)], end);
  assert.deepEqual([kinds, rules, warnings], [[CHANGE], [Rule.accepted], []]);
  const flags = MarketFlag.ended | MarketFlag.negRisk;
  const after = [before[0], { ...before[1], flags }, before[2]];
  const now = () => [1, 2, 3].map((slot) => termsOf(exchange, slot));
  assert.deepEqual(now(), after);
  assert.deepEqual(follow(exchange, [market(1), market(3)], end), NOTHING, 'once only');
  assert.deepEqual(follow(exchange, [market(1), market(3)]), NOTHING, 'and gone from the catalog');
  assert.deepEqual(now(), after);
  follow(exchange, three);
  assert.deepEqual(now(), before, 'unless it is opened again');
});

test('a market that takes no orders any more can still end without a book', () => {
  const exchange = new Exchange();
  follow(exchange, [market(1)]);
  follow(exchange, []);
  assert.equal(termsOf(exchange, 1).flags, 0);
  const end = [market(1).conditionId];
  const { kinds, rules } = follow(exchange, [], end);
  assert.deepEqual([kinds, rules], [[CHANGE], [Rule.accepted]]);
  assert.equal(termsOf(exchange, 1).flags, MarketFlag.ended);
  assert.deepEqual(follow(exchange, [], end), NOTHING);
});

test('a market with more outcomes than a command can carry gets a warning instead of a book', () => {
  const exchange = new Exchange({ ...ROOMY, tokens: 200 });
  const tokens = (count: number) => Array.from({ length: count }, (_, i) => String(100 + i));
  const answer = follow(exchange, [
    market(1, { tokenIds: tokens(65) }),
    market(2, { tokenIds: tokens(64) }),
  ]);
  assert.deepEqual(answer.warnings, ['market 1 has 65 outcomes; it gets no book']);
  assert.deepEqual(answer.rules, [Rule.accepted]);
  assert.equal(exchange.t.state[State.tokens], 64);
});

test('a large catalog comes in chunks that do not hold up orders for long', () => {
  const exchange = new Exchange({ ...ROOMY, markets: 3_000, tokens: 6_000 });
  const catalog = Array.from({ length: 2_500 }, (_, i) => market(i + 1));
  const { chunks, rules } = follow(exchange, catalog);
  assert.equal(chunks, 3);
  assert.equal(rules.length, 2_500);
  assert(rules.every((rule) => rule === Rule.accepted));
  assert.deepEqual(follow(exchange, catalog), NOTHING);
  const changed = catalog.map((m, i) => (i % 2 === 0 ? { ...m, minSizeMicro: 7 } : m));
  assert.deepEqual(follow(exchange, changed).kinds, Array(1_250).fill(CHANGE));
});

test('a catalog of the widest markets comes in chunks that fit a slot, whatever their number', () => {
  const exchange = new Exchange({ ...ROOMY, markets: 1_100, tokens: 1_100 * 64 });
  const catalog = Array.from({ length: 1_100 }, (_, i) =>
    market(i + 1, { tokenIds: Array.from({ length: 64 }, (_, n) => `${i + 1}${1_000 + n}`) }),
  );
  const { rules } = follow(exchange, catalog);
  assert.equal(rules.length, 1_100);
  assert(rules.every((rule) => rule === Rule.accepted));
  const { sizes } = allocateSlots(1, 0, 1_024);
  const chunks = marketCommands(new Exchange().t, catalog, () => undefined);
  for (const { byteLength } of chunks) assert(byteLength <= sizes.journalBytes, `${byteLength}`);
  assert(chunks.length < 12, 'and are not small');
});

test('what the catalog says of a market is found by its slot, and follows a new catalog', () => {
  const exchange = new Exchange();
  follow(exchange, [market(1), market(0xbeef)]);
  const infos = new MarketInfos(exchange.t);
  const find = (slot: number) => infos.find(slot as MarketSlot);
  assert.equal(find(1), undefined, 'before there is a catalog');
  const catalog = (...markets: CatalogMarket[]) => {
    const byCondition = new Map(markets.map((listed) => [listed.conditionId, listed]));
    return (conditionId: string) => byCondition.get(conditionId);
  };
  infos.replace(catalog(market(0xbeef), market(1)));
  assert.equal(find(1)?.slug, 'question-1');
  assert.equal(find(2)?.slug, `question-${0xbeef}`);
  for (const slot of [0, -1, 3]) assert.equal(find(slot), undefined);
  const held = infos.held();
  infos.replace(catalog(market(1, { slug: 'renamed' })));
  assert.equal(find(1)?.slug, 'renamed');
  assert.equal(find(2), undefined, 'a market that left the catalog has no text');
  assert.deepEqual(
    [1, 2].map((slot) => held(slot as MarketSlot)?.slug),
    ['question-1', `question-${0xbeef}`],
    'who held it goes on to ask the one before',
  );
});
