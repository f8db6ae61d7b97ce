import assert from 'node:assert/strict';
import test from 'node:test';
import type { Listed } from '../../server/catalog/catalog-generation.ts';
import type { CatalogQuery } from '../../server/catalog/query.ts';
import { type Ranked, Rankings } from '../../server/catalog/rankings.ts';
import { emptyOrder, NumberSorter } from '../../server/catalog/sort-orders.ts';
import type { Random } from '../common/random.ts';
import { turnsOf } from '../common/turns.ts';
import { seeded } from './catalog-judge.ts';

const ROWS = 40_000;
/** Rows of a column that a step may visit; each column has several passes. */
const ROWS_PER_TURN_MAX = 8_192;

/** Two statistics and a text, each with a few different values, so that every column counts. */
function catalogOf(random: Random) {
  const draw = (different: number): Float64Array<ArrayBuffer> =>
    Float64Array.from({ length: ROWS }, () => random.below(different));
  const [volume, liquidity, question] = [draw(6), draw(6), draw(300)];
  const order = emptyOrder(ROWS, question);
  new NumberSorter(ROWS).sort(question, order);
  const statistics: Record<string, Float64Array> = { volume, liquidity };
  const column = (_: string, name: string) => ({
    values: statistics[name],
    isLive: name in statistics,
    order: () => order,
  });
  const listed = {
    statistics: { etag: 'early', column },
    prepared: { markets: { ids: new Float64Array(ROWS), orders: { question: order } } },
  };
  return {
    columns: { volume, liquidity, question },
    listed: listed as unknown as Listed,
    statistics: listed.statistics,
  };
}

type Columns = Readonly<Record<string, Float64Array>>;

function plainly(columns: Columns, names: readonly string[], isAscending: boolean): number[] {
  const sign = isAscending ? 1 : -1;
  return Array.from({ length: ROWS }, (_, row) => row).sort((a, b) => {
    for (const name of names) {
      const difference = columns[name]![a]! - columns[name]![b]!;
      if (difference !== 0) return sign * difference;
    }
    return sign * (a - b);
  });
}

function queryOf(order: readonly string[], isAscending: boolean): CatalogQuery {
  return { order, ascending: isAscending ? 1 : 0 } as CatalogQuery;
}

function rowsOf(ranked: Ranked | undefined): number[] {
  assert(ranked !== undefined);
  return Array.from({ length: ROWS }, (_, rank) => ranked.ranking.rowAt(rank));
}

const isThere = (): boolean => false;

test('a sort by several columns yields to other requests, and uses the statistics of its beginning', () =>
  seeded(async (random) => {
    const isAscending = random.chance(50);
    for (const order of [
      ['volume', 'question', 'liquidity'],
      ['liquidity', 'question'],
    ]) {
      const { columns, statistics, listed } = catalogOf(random);
      const expected = plainly(columns, order, isAscending);
      setImmediate(() => {
        columns.volume.reverse();
        columns.liquidity.fill(0);
        statistics.etag = 'late';
      });
      const query = queryOf(order, isAscending);
      const { turns, value } = await turnsOf(
        new Rankings().sort('markets', listed, query, isThere),
      );
      assert.equal(value?.etag, 'early');
      assert.deepEqual(rowsOf(value), expected);
      assert(expected.every((row, rank) => value.ranking.rankOf(row) === rank));
      const least = (1 + 2 * order.length) * Math.floor(ROWS / ROWS_PER_TURN_MAX);
      assert(turns >= least, `${turns} turns, not ${least}`);
    }
  }));

test('sorts queue: none disturbs another, and one whose caller has disconnected is dropped', () =>
  seeded(async (random) => {
    const { columns, listed } = catalogOf(random);
    const rankings = new Rankings();
    const [first, second, third] = [
      ['volume', 'liquidity'],
      ['liquidity', 'volume'],
      ['question', 'volume'],
    ] as const;
    let calls = 0;
    const isGone = (): boolean => ++calls > 2;
    const sort = (order: readonly string[], isAscending: boolean, leaves = isThere) =>
      rankings.sort('markets', listed, queryOf(order, isAscending), leaves);
    const up = sort(first, true);
    const gone = sort(second, true, isGone);
    const broken = rankings.sort('markets', {} as Listed, queryOf(second, true), isThere);
    const down = [second, third].map((order) => sort(order, false));
    await assert.rejects(broken);
    assert.equal(await gone, undefined);
    assert.deepEqual(rowsOf(await up), plainly(columns, first, true));
    assert.deepEqual(rowsOf(await down[0]), plainly(columns, second, false));
    assert.deepEqual(rowsOf(await down[1]), plainly(columns, third, false));
  }));
