import assert from 'node:assert/strict';
import test from 'node:test';
import {
  CommandBuffer,
  encodeConfigure,
  encodeMarket,
  encodeResolve,
  encodeResolveStep,
} from '../../engine/commands.ts';
import { Engine } from '../../engine/engine.ts';
import { EventBuffer } from '../../engine/events.ts';
import { lastBatch } from '../../engine/reads.ts';
import { MarketFlag } from '../../engine/tables/codes.ts';
import { allocateEngine } from '../../engine/tables/tables.ts';
import type { MarketRow, MicroShares } from '../../engine/tables/units.ts';
import { compileShape } from '../../server/common/schema.ts';
import { STREAM_TABLE } from '../../server/streams/messages.ts';
import { Names } from '../../server/streams/names.ts';
import { ResolvedMarkets } from '../../server/streams/resolved-markets.ts';
import { operatorRequestId } from '../../server/wallet/request-id.ts';
import { idWords } from '../engine/engine-driver.ts';
import { WITH_LEDGER } from '../engine/ledger-duel.ts';

const TIME = 1_700_000_000_000;
const { schema } = STREAM_TABLE['/ws/market'].events.market_resolved;
const event = compileShape(schema);

interface Resolved {
  readonly sequence: string;
  readonly previous: string;
  readonly payouts: readonly number[];
  readonly assets_ids: readonly string[];
  readonly winning_asset_id: string;
  readonly winning_outcome: string;
  readonly is_void: boolean;
}

test('a resolved market is published once, with its winner, and a void one without', () => {
  const events = new EventBuffer(1_000);
  const engine = new Engine(allocateEngine(WITH_LEDGER), events);
  const sent: Resolved[] = [];
  const outcomes = ['Yes', 'No'];
  const names = new Names(engine.t, () => ({ outcomes }) as never);
  const markets = new ResolvedMarkets({
    names,
    now: () => TIME,
    venue: 'venue',
    batch: 0,
    publish: (_, text) => {
      const parsed: unknown = JSON.parse(Buffer.from(text).toString());
      assert(event.matches(parsed), String(text));
      sent.push(parsed);
    },
  });
  let time = TIME;
  const apply = (encode: (out: CommandBuffer) => number): void => {
    const out = new CommandBuffer(256);
    events.clear();
    time += 1;
    engine.begin(time, 0);
    assert.equal(engine.apply(out.i32, out.f64, encode(out)), 0);
    engine.end();
    const sequence = lastBatch(engine.t);
    markets.flushed({ events: events.i32.slice(0, events.words), sequence, time });
  };
  const fields = {
    flags: MarketFlag.tradable,
    ticksPerUnit: 100,
    baseFeeBps: 0,
    minSize: 1 as MicroShares,
  } as const;
  apply((out) => encodeConfigure(out, 0, WITH_LEDGER.history, 100, 100, 0, true));
  for (const market of [1, 2]) {
    const id = (n: number) => idWords(10 * market + n);
    apply((out) => encodeMarket(out, fields, id(0), [id(1), id(2)]));
  }
  const vectors = [
    { market: 1 as MarketRow, weights: [0, 1], isVoid: false },
    { market: 2 as MarketRow, weights: [1, 1], isVoid: true },
  ];
  for (const vector of vectors) {
    const id = operatorRequestId(`${TIME}-${vector.market}`)!;
    apply((out) => encodeResolve(out, { id, ...vector }));
    assert.equal(sent.length, vector.market - 1, 'its holders are not paid yet');
    for (let step = 0; step < 3; step++) apply((out) => encodeResolveStep(out, vector.market, 10));
    assert.equal(sent.length, vector.market);
  }
  const [first, second] = sent;
  assert(first !== undefined && second !== undefined);
  assert.deepEqual(first.payouts, [0, 1]);
  assert.equal(first.winning_asset_id, first.assets_ids[1]);
  assert.equal(first.winning_outcome, 'No');
  assert.equal(second.winning_asset_id, '');
  assert(second.is_void && !first.is_void);
  assert(first.sequence < second.sequence);
  assert.equal(second.previous, first.sequence);
});
