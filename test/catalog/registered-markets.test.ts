import assert from 'node:assert/strict';
import test from 'node:test';
import { OUTCOMES_MAX } from '../../engine/tables/capacities.ts';
import type { JsonObject } from '../../storage/catalog/catalog-file.ts';
import {
  alignEvents,
  type ContradictionReason,
  type RegisteredMarkets,
  registeredAs,
} from '../../storage/catalog/registered-markets.ts';
import { type Random, rounds, withSeed } from '../common/random.ts';
import { permuted, type RawMarket } from './registered-stage.ts';

const conditionOf = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`;

interface Registered {
  readonly tokenIds: readonly string[];
  readonly negRisk: boolean;
}

function registry(markets: ReadonlyMap<string, Registered>): RegisteredMarkets {
  return {
    find(conditionId) {
      const found = markets.get(conditionId);
      return found && registeredAs(found.tokenIds, found.negRisk);
    },
    ownerOf: (tokenId) => [...markets].find(([, { tokenIds }]) => tokenIds.includes(tokenId))?.[0],
  };
}

function raw(n: number, outcomes: readonly string[], more: object = {}): RawMarket {
  return {
    id: String(n),
    conditionId: conditionOf(n),
    outcomes: JSON.stringify(outcomes),
    clobTokenIds: JSON.stringify(outcomes.map((_, i) => `${n}00${i + 1}`)),
    outcomePrices: JSON.stringify(outcomes.map((_, i) => `0.${i + 1}`)),
    active: true,
    ...more,
  };
}

const eventOf = (markets: readonly RawMarket[], more: object = {}): JsonObject => ({
  id: '1',
  ...more,
  markets,
});
const YES_NO = ['Yes', 'No'];
const REGISTERED = registry(
  new Map([
    [conditionOf(1), { tokenIds: ['1001', '1002'], negRisk: false }],
    [conditionOf(2), { tokenIds: ['2001', '2002'], negRisk: true }],
    [conditionOf(3), { tokenIds: ['3001', '3002', '3003'], negRisk: false }],
  ]),
);
const BEFORE = {
  events: [
    eventOf([
      raw(1, YES_NO, { question: 'before' }),
      raw(2, YES_NO, { negRisk: true }),
      raw(3, ['A', 'B', 'C']),
    ]),
  ],
};

function alignedMarkets(markets: readonly RawMarket[], more: object = {}) {
  const { events, ...counts } = alignEvents([eventOf(markets, more)], REGISTERED, BEFORE);
  return { ...counts, markets: events[0]!.markets as readonly RawMarket[] };
}

test('lists in another order are put into the registered one, each in the form that it had', () => {
  const market = raw(3, ['A', 'B', 'C'], { shortOutcomes: ['a', 'b', 'c'], odd: ['x', 'y'] });
  const turned = {
    ...permuted(market, [2, 0, 1]),
    clobTokenIds: ['3003', '3001', '3002'],
    shortOutcomes: ['c', 'a', 'b'],
  };
  const { contradictions, markets, turned: count } = alignedMarkets([turned]);
  assert.deepEqual([contradictions, count], [[], 1]);
  const { clobTokenIds, ...others } = market;
  assert.deepEqual(markets, [{ ...others, clobTokenIds: JSON.parse(String(clobTokenIds)) }]);
});

test('a market as registered, or not registered at all, is returned as the same object', () => {
  const events = [
    eventOf([raw(1, YES_NO), raw(9, ['No', 'Yes'])]),
    { id: '2', markets: 'none' },
    'no event' as unknown as JsonObject,
  ];
  const aligned = alignEvents(events, REGISTERED, BEFORE);
  assert.deepEqual([aligned.turned, aligned.contradictions, aligned.kept], [0, [], 0]);
  for (const [i, event] of aligned.events.entries()) assert.equal(event, events[i]);
});

const list = (...items: readonly string[]): string => JSON.stringify(items);
const tokens = (...ids: readonly string[]) => ({ clobTokenIds: list(...ids) });

test('a contradicting market stays as in the catalog before, and is named with the reason', () => {
  const cases: readonly [ContradictionReason, RawMarket][] = [
    ['tokens', raw(1, YES_NO, tokens('1001', '77'))],
    ['tokens', raw(1, YES_NO, tokens('2001', '2002'))],
    ['tokens', raw(1, YES_NO, tokens('1001', '1001'))],
    ['tokens', raw(1, ['Yes', 'No', 'Maybe'], tokens('1001', '1002', '77'))],
    ['tokens', raw(1, ['Yes'], tokens('1001'))],
    ['tokens', raw(1, YES_NO, { clobTokenIds: '[1001, 1002]' })],
    ['tokens', raw(1, YES_NO, { clobTokenIds: null })],
    ['tokens', raw(1, YES_NO, { ...tokens('1001', '01002'), closed: true })],
    ['negRisk', raw(1, YES_NO, { negRisk: true })],
    ['negRisk', permuted(raw(1, YES_NO, { negRisk: true }), [1, 0])],
    ['names', raw(1, ['No', 'Yes'])],
    ['names', raw(1, YES_NO, tokens('1002', '1001'))],
  ];
  for (const [reason, market] of cases) {
    const { contradictions, kept, markets } = alignedMarkets([market]);
    const named = [{ id: '1', conditionId: conditionOf(1), reason }];
    assert.deepEqual([contradictions, kept], [named, 1], JSON.stringify(market));
    const before = { ...raw(1, YES_NO, { question: 'before' }), negRisk: false };
    assert.deepEqual(markets, [before], JSON.stringify(market));
  }
});

test('the neg-risk flag of an event counts for markets without one, and a kept market keeps its own', () => {
  const { contradictions, markets } = alignedMarkets([raw(1, YES_NO), raw(2, YES_NO)], {
    negRisk: true,
  });
  assert.deepEqual(
    contradictions.map(({ id, reason }) => [id, reason]),
    [['1', 'negRisk']],
  );
  assert.deepEqual(
    markets.map(({ negRisk }) => negRisk),
    [false, undefined],
  );
});

test('tokens of a registered market under another condition id, or none, are not taken', () => {
  const thief = raw(8, YES_NO, tokens('88', '2002'));
  for (const market of [thief, { ...thief, conditionId: '' }, { ...thief, closed: true }]) {
    const { contradictions, kept, markets } = alignedMarkets([market, raw(1, YES_NO)]);
    assert.deepEqual(
      contradictions.map(({ reason }) => reason),
      ['condition'],
    );
    assert.deepEqual([kept, markets.map(({ id }) => id)], [0, ['1']]);
  }
});

test('a registered market that is listed under another condition id stays, unless it is listed itself', () => {
  const moved = { ...raw(1, ['No', 'Yes'], tokens('1002', '1001')), conditionId: conditionOf(8) };
  const before = { ...raw(1, YES_NO, { question: 'before' }), negRisk: false };
  for (const [listed, ids] of [
    [[moved], ['1']],
    [[moved, { ...moved, id: '4' }], ['1']],
    [[moved, raw(1, YES_NO, { id: '5' })], ['5']],
    [[{ ...moved, conditionId: '' }], ['1']],
  ] as const) {
    const { contradictions, markets } = alignedMarkets(listed);
    assert.deepEqual([...new Set(contradictions.map(({ reason }) => reason))], ['condition']);
    assert.deepEqual(
      markets.map(({ id }) => id),
      ids,
    );
    if (ids[0] === '1') assert.deepEqual(markets[0], before);
  }
});

test('a market that has ended may lose its tokens: it keeps those that are stored', () => {
  for (const gone of [{ clobTokenIds: undefined }, { clobTokenIds: '[]', outcomes: '[]' }]) {
    const ended = raw(3, ['A', 'B', 'C'], { ...gone, closed: true });
    const { contradictions, markets } = alignedMarkets([ended]);
    assert.deepEqual(contradictions, []);
    const { clobTokenIds, outcomes } = raw(3, ['A', 'B', 'C']);
    assert.deepEqual(markets, [{ ...ended, clobTokenIds, outcomes }]);
  }
});

test('stored names are used when names do not pair with tokens, and new names otherwise', () => {
  const unpaired = raw(1, ['Yes'], tokens('1002', '1001'));
  const { markets } = alignedMarkets([{ ...unpaired, outcomePrices: undefined }]);
  assert.deepEqual(
    [markets[0]!.outcomes, markets[0]!.clobTokenIds],
    [list(...YES_NO), list('1001', '1002')],
  );
  const renamed = alignedMarkets([permuted(raw(1, ['Yes!', 'No!']), [1, 0])]);
  assert.deepEqual(renamed.contradictions, []);
  assert.equal(renamed.markets[0]!.outcomes, list('Yes!', 'No!'));
});

/** The rule in plain loops: names by token, or the reason of a refusal. */
function naive(market: RawMarket, registered: Registered, names: ReadonlyMap<string, string>) {
  const ids = JSON.parse(String(market.clobTokenIds)) as string[];
  const labels = JSON.parse(String(market.outcomes)) as string[];
  if (ids.toSorted().join() !== registered.tokenIds.toSorted().join()) return 'tokens';
  if ((market.negRisk === true) !== registered.negRisk) return 'negRisk';
  const after = new Map(ids.map((id, i) => [id, labels[i]!]));
  const isOther = ids.some((id) => names.get(id) !== after.get(id));
  const sameNames = labels.toSorted().join() === [...names.values()].toSorted().join();
  return isOther && sameNames ? 'names' : after;
}

function shuffled<T>(random: Random, items: readonly T[]): T[] {
  const left = [...items];
  return items.map(() => left.splice(random.below(left.length), 1)[0]!);
}

test('each token keeps its name and price for any order of a file', () =>
  withSeed((random) => {
    for (let round = 0; round < rounds(400); round++) {
      const count = random.chance(10) ? OUTCOMES_MAX : random.between(2, 6);
      const labels = Array.from({ length: count }, (_, i) => `outcome ${random.chance(5) ? 0 : i}`);
      const market = raw(1, labels, { negRisk: random.chance(50) });
      const tokenIds = JSON.parse(String(market.clobTokenIds)) as string[];
      const registered = { tokenIds, negRisk: market.negRisk === true };
      const before = { events: [eventOf([market])] };
      let file = permuted(market, shuffled(random, [...tokenIds.keys()]));
      if (random.chance(10)) file = { ...file, negRisk: !registered.negRisk };
      if (random.chance(10)) file = { ...file, outcomes: list(...shuffled(random, labels)) };
      if (random.chance(10)) {
        const ids = JSON.parse(String(file.clobTokenIds)) as string[];
        ids[random.below(count)] = random.pick(['5', tokenIds[0]!]);
        file = { ...file, clobTokenIds: list(...ids) };
      }
      const known = registry(new Map([[conditionOf(1), registered]]));
      const found = alignEvents([eventOf([file])], known, before);
      const names = new Map(tokenIds.map((id, i) => [id, labels[i]!]));
      const expected = naive(file, registered, names);
      const [aligned] = found.events[0]!.markets as readonly RawMarket[];
      assert.equal(aligned!.clobTokenIds, market.clobTokenIds);
      if (typeof expected === 'string') {
        assert.equal(found.contradictions[0]?.reason, expected);
        assert.deepEqual(
          [aligned!.outcomes, aligned!.outcomePrices],
          [market.outcomes, market.outcomePrices],
        );
        continue;
      }
      assert.deepEqual(found.contradictions, []);
      assert.equal(aligned!.outcomes, list(...tokenIds.map((id) => expected.get(id)!)));
      assert.equal(
        aligned!.outcomePrices,
        market.outcomePrices,
        'prices were turned round with the tokens',
      );
    }
  }));
