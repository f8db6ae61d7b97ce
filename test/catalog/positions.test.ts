/** Markets of the second protocol in a catalog: their ids in every form, and which of their lists trades. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { recordedMarkets } from '../../server/backtest/recorded-markets.ts';
import { marketRowsOf } from '../../server/catalog/build-markets.ts';
import { type Edited, edited, type NewMarket } from '../../server/catalog/edits/edit.ts';
import { keyOf } from '../../server/catalog/text-index.ts';
import { parseChoice } from '../../server/common/market-choice.ts';
import { isPosition } from '../../server/common/position-ids.ts';
import { conditionToBytes, hexToWords } from '../../server/common/uint256.ts';
import { marketsOfEvent } from '../../server/paper/source-api.ts';
import { type Catalog, type JsonObject, readCatalog } from '../../storage/catalog/catalog-file.ts';
import { askedCondition, conditionKey } from '../../storage/catalog/condition-ids.ts';
import { alignEvents, registeredAs } from '../../storage/catalog/registered-markets.ts';

const LONG = `0x01${'ab'.repeat(16)}${'00'.repeat(15)}`;
const SHORT = LONG.slice(0, -2);
const [YES, NO] = [String(BigInt(LONG)), String(BigInt(LONG) + 1n)];
const AT = '2027-01-01T00:00:00Z';
const EMPTY: Catalog = read({ events: [] });

function read(file: unknown): Catalog {
  const result = readCatalog(file);
  assert(result.ok, JSON.stringify(result));
  return result.catalog;
}

function eventOf(market: JsonObject, event: JsonObject = {}): JsonObject {
  const outcomes = ['Yes', 'No'];
  return { id: '1', ...event, markets: [{ id: '7', outcomes, active: true, ...market }] };
}

test('a condition id of 31 bytes is the one of 32 bytes that ends with a zero byte', () => {
  const other = LONG.replace('0xab', '0xAB').toUpperCase().replace('0X', '0x');
  for (const sent of [SHORT, LONG, other, other.slice(0, -2)]) {
    assert.equal(conditionKey(sent), LONG);
    assert.equal(keyOf('condition', ` ${sent} `), keyOf('condition', LONG));
    const bytes = new Uint8Array(32).fill(9);
    assert(conditionToBytes(sent, bytes));
    assert.equal(`0x${Buffer.from(bytes).toString('hex')}`, LONG);
    assert.deepEqual(parseChoice(sent)?.conditions, [LONG]);
  }
  for (const sent of [
    '',
    '0x',
    LONG.slice(0, -1),
    `${LONG}0`,
    LONG.slice(2),
    `0y${SHORT.slice(2)}`,
  ]) {
    assert.equal(conditionKey(sent), undefined, sent);
    assert(!conditionToBytes(sent, new Uint8Array(32)), sent);
  }
  assert(!conditionToBytes(`${SHORT.slice(0, -1)}g`, new Uint8Array(32)));
  assert.notEqual(keyOf('number', SHORT), keyOf('number', LONG), 'other ids are no condition ids');
});

test('another service is asked for the short form of a condition of positions alone', () => {
  assert.equal(askedCondition(LONG), SHORT);
  for (const other of [
    `0x${'ab'.repeat(31)}00`,
    `0x05${LONG.slice(4)}`,
    `${LONG.slice(0, -2)}01`,
  ]) {
    assert.equal(askedCondition(other), other);
  }
});

test('hex digits of a token are the words of its number', () => {
  const [one, other] = [new Int32Array(8), new Int32Array(8)];
  assert(hexToWords(`0x${BigInt(YES).toString(16)}`, one));
  assert(hexToWords(LONG, other));
  assert.deepEqual(one, other);
  assert.equal(one[0]! >>> 24, 1);
  for (const sent of ['7', `${LONG}0`, '0xg']) assert(!hexToWords(sent, one), sent);
});

test('version says which list trades, whatever else is there', () => {
  const lists = { conditionId: SHORT, clobTokenIds: '["11","12"]', positionIds: [YES, NO] };
  const tokens = (market: JsonObject, event: JsonObject = {}) => {
    const { markets } = read({ events: [eventOf({ ...lists, ...market }, event)] });
    return markets[0]?.tokenIds;
  };
  const [old, positions] = [
    ['11', '12'],
    [YES, NO],
  ];
  assert.deepEqual(tokens({}), old);
  assert.deepEqual(tokens({ version: 'v1' }), old);
  assert.deepEqual(tokens({ version: 'v2' }), positions);
  assert.deepEqual(tokens({ version: 'v2', positionIds: JSON.stringify(positions) }), positions);
  assert.deepEqual(tokens({}, { version: 'v2' }), positions, 'the version of its event');
  assert.deepEqual(tokens({ version: 'v1' }, { version: 'v2' }), old, 'its own comes first');
  assert.deepEqual(tokens({ positionIds: null }, { version: 'v2' }), old);
  assert.equal(tokens({ version: 'v2', positionIds: undefined }), undefined, 'no book');
});

test('a condition id is stored with 32 bytes, and claimed once in either form', () => {
  const one = eventOf({ conditionId: SHORT, version: 'v2', positionIds: [YES, NO] });
  const { events, markets } = read({ events: [one] });
  assert.equal(markets[0]?.conditionId, LONG);
  assert.equal((events[0]!.markets as JsonObject[])[0]?.conditionId, LONG);
  assert.deepEqual(read({ events }).events, events, 'what is stored stays as it is');
  const other = { id: '8', conditionId: LONG, clobTokenIds: ['1', '2'], outcomes: ['A', 'B'] };
  const both = readCatalog({ events: [one, { id: '2', markets: [other] }] });
  assert(!both.ok && /both claim condition id/.test(both.error));
});

test('markets with exchanged positions are turned to their registered order', () => {
  const registered = {
    find: (condition: string) => (condition === LONG ? registeredAs([YES, NO]) : undefined),
    ownerOf: (token: string) => ([YES, NO].includes(token) ? LONG : undefined),
  };
  const turned = { conditionId: SHORT, positionIds: [NO, YES], outcomes: '["Down","Up"]' };
  const align = (market: JsonObject, event: JsonObject = {}) =>
    alignEvents([eventOf(market, event)], registered, EMPTY);
  const { contradictions, events, turned: count } = align(turned, { version: 'v2' });
  assert.deepEqual([contradictions, count], [[], 1]);
  const [market] = events[0]!.markets as JsonObject[];
  assert.deepEqual(market?.positionIds, [YES, NO]);
  assert.equal(market?.outcomes, '["Up","Down"]');
  const stranger = align({ ...turned, version: 'v2', positionIds: [YES, '5'] });
  assert.equal(stranger.contradictions[0]?.reason, 'tokens');
  const elsewhere = align({ conditionId: `0x${'77'.repeat(32)}`, clobTokenIds: [YES, NO] });
  assert.equal(elsewhere.contradictions[0]?.reason, 'condition');
});

test('an index finds a market by its positions, not by the tokens that it does not trade', () => {
  const lists = { clobTokenIds: '["11","12"]', positionIds: [YES, NO] };
  const { events } = read({ events: [eventOf({ conditionId: LONG, version: 'v2', ...lists })] });
  const [row] = marketRowsOf(events);
  assert.equal(row?.tokenIds.text, JSON.stringify([YES, NO]));
  assert.equal(keyOf('numbers', LONG), keyOf('numbers', YES));
  assert.equal(keyOf('numbers', `0x${LONG.slice(3)}`), keyOf('numbers', YES));
});

test('a mirror and a backtest take the positions of a market', () => {
  const lists = { clobTokenIds: '["11","12"]', positionIds: [YES, NO] };
  const event = eventOf({
    conditionId: SHORT.toUpperCase().replace('X', 'x'),
    version: 'v2',
    ...lists,
  });
  const [mirrored] = marketsOfEvent(event);
  assert.deepEqual([mirrored?.condition, mirrored?.tokens], [LONG, [YES, NO]]);
  const [recorded] = recordedMarkets(eventOf({ conditionId: SHORT, version: 'v2', ...lists }));
  assert.deepEqual([recorded?.id, recorded?.tokens], [LONG, [YES, NO]]);
});

const OF_POSITIONS = { outcomes: ['Yes', 'No'], protocol: 2 } as const;

function made(before: Catalog, fields: NewMarket): Edited & { readonly catalog: Catalog } {
  const result = edited(before, { kind: 'market', fields, at: AT });
  assert(!('error' in result), JSON.stringify(result));
  return { ...result, catalog: result.catalog ?? before };
}

test('an operator makes markets with positions, the same ones for the same fields', () => {
  const fields = { ...OF_POSITIONS, question: 'Will it rain?' };
  const first = made(EMPTY, fields);
  const condition = BigInt(first.condition);
  assert.deepEqual(first.tokens, [String(condition), String(condition + 1n)]);
  assert(first.tokens.every(isPosition));
  assert.equal(condition >> 248n, 1n, 'binary');
  assert.equal(condition & ((1n << 120n) - 1n), 0n, 'arity, chain and index are 0');
  assert.equal(made(EMPTY, fields).condition, first.condition);
  const again = edited(first.catalog, { kind: 'market', fields, at: AT });
  assert(!('error' in again) && again.catalog === undefined, 'nothing changes');
  const keyed = made(first.catalog, { ...fields, id: 'second', event: first.event });
  assert.notEqual(keyed.condition, first.condition);
  const old = made(EMPTY, { question: 'Will it rain?', outcomes: ['Yes', 'No'] });
  assert(!old.tokens.some(isPosition));
  const three = edited(EMPTY, {
    kind: 'market',
    fields: { ...fields, outcomes: ['A', 'B', 'C'] },
    at: AT,
  });
  assert('error' in three && three.error === 'invalid_field: outcomes');
});

test('markets of a neg-risk event share its first 29 bytes, and are numbered', () => {
  const event = edited(EMPTY, { kind: 'event', fields: { title: 'Race', negRisk: true }, at: AT });
  assert(!('error' in event) && event.catalog !== undefined);
  let { catalog } = event;
  const conditions: string[] = [];
  for (const question of ['A?', 'B?', 'A?', 'C?']) {
    const market = made(catalog, { ...OF_POSITIONS, question, event: event.event });
    assert(market.tokens.every(isPosition));
    ({ catalog } = market);
    conditions.push(market.condition);
  }
  const group = conditions.map((id) => id.slice(0, 2 + 58));
  assert.equal(new Set(group).size, 1);
  assert.deepEqual(
    conditions.map((id) => Number((BigInt(id) >> 8n) & 0xffffn)),
    [1, 2, 1, 3],
  );
  const [id] = conditions;
  assert.equal(BigInt(id!) >> 248n, 2n, 'neg-risk');
  assert(Number((BigInt(id!) >> 104n) & 0xffffn) >= 3, 'the arity is at least the index');
  const rows = catalog.markets.map(({ negRisk }) => negRisk);
  assert.deepEqual(rows, [true, true, true]);
});
