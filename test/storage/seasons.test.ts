/** Seasons in the projection of results: boards of each season, also after the rows are made again from the facts. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { findAccount } from '../../engine/orders/accounts.ts';
import { PROJECTIONS, Projections } from '../../storage/projection/environment.ts';
import { Board } from '../../storage/projection/ranks.ts';
import { ResultsReader } from '../../storage/projection/reader.ts';
import { verifyProjections } from '../../storage/projection/verify-derived.ts';
import { addressWords } from '../engine/engine-driver.ts';
import { WITH_LEDGER } from '../engine/ledger-duel.ts';
import { LedgerScript, UNIT } from '../engine/ledger-script.ts';
import { Pair } from './projector-stage.ts';

const QUICK = { durability: 'committed', readOnly: false } as const;
const [FIRST, SECOND, THIRD] = [1, 2, 3];

/** Two seasons that end: wallet 7 wins 5 of wallet 8 in the first, and loses 2 to it in the second. */
function twoSeasons(): LedgerScript {
  const script = new LedgerScript();
  script.fund('deposit', 7, 100 * UNIT).fund('deposit', 8, 100 * UNIT);
  script.do('buy #1 10 @ 0.50 by 7', 'buy #2 10 @ 0.50 No by 8');
  script.resolve([1, 0]);
  script.finish();
  script.endSeason(50 * UNIT, 2.001);
  // In the first millisecond of the season.
  script.do('market 2', 'buy #3 4 @ 0.50 token 3 by 8', 'buy #4 4 @ 0.50 token 4 by 7');
  script.resolve([1, 0], { market: 2 });
  script.finish();
  script.endSeason(70 * UNIT, 100_000);
  return script;
}

test('each season has boards of its own, which stay when it is over', async (t) => {
  const script = twoSeasons();
  const { driver } = script.duel;
  driver.close();
  const pair = new Pair(t, {}, WITH_LEDGER);
  await pair.go(driver.logged);
  const [seven, eight] = [7, 8].map((w) => findAccount(script.t, addressWords(w), 0)) as [
    number,
    number,
  ];
  const check = async (): Promise<void> => {
    const projections = new Projections(pair.dataDir, QUICK);
    const reader = new ResultsReader(projections);
    assert.deepEqual(reader.seasons(), [
      { number: FIRST, end: 2_000, startSum: 50 * UNIT },
      { number: SECOND, end: 2_001, startSum: 70 * UNIT },
    ]);
    const board = (board: typeof Board.profit | typeof Board.volume, number: number) =>
      reader
        .page({ board, period: 'season', number }, undefined, 10)
        .map(({ account, score }) => [account, Number(score) / UNIT]);
    assert.deepEqual(board(Board.profit, FIRST), [
      [seven, 5],
      [eight, -5],
    ]);
    assert.deepEqual(board(Board.profit, SECOND), [
      [eight, 2],
      [seven, -2],
    ]);
    assert.deepEqual(board(Board.profit, THIRD), []);
    const volumes = [FIRST, SECOND, THIRD].map((number) =>
      Number(reader.score(Board.volume, seven, 'season', number) / BigInt(UNIT)),
    );
    assert.deepEqual(volumes, [10, 4, 0]);
    assert.equal(reader.score(Board.profit, seven, 'all', 0), BigInt(3 * UNIT));
    await projections.close();
    const seen = { tables: pair.context.t, last: pair.log.last, digests: new Map(), firstFill: 0 };
    assert.match((await verifyProjections(pair.dataDir, seen)).text, /results, \d+ ranks/);
  };
  pair.settle();
  pair.follower.close(pair.log.last, pair.now);
  await check();
  rmSync(join(pair.dataDir, PROJECTIONS), { recursive: true });
  pair.start();
  pair.settle();
  pair.follower.close(pair.log.last, pair.now);
  await check();
});
