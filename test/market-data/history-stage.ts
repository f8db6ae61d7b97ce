/**
 * Price history and volumes of real fills, the projector's rows of them, and the naive computation
 * of both by a scan of every fill. No HTTP, no threads.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MatchKind } from '../../engine/tables/codes.ts';
import {
  FILL_DOUBLES,
  FILL_WORDS,
  Fill,
  State,
  TOKEN_I,
  Token,
} from '../../engine/tables/layout.ts';
import type { TokenRow } from '../../engine/tables/units.ts';
import { HistoryService } from '../../server/market-data/history-service.ts';
import { type DerivedTables, openDerivedTables } from '../../storage/projection/derived.ts';
import { Projections } from '../../storage/projection/environment.ts';
import { fillCopier, StoredFills } from '../../storage/projection/fills.ts';
import { STEP_MINUTES, type Step } from '../../storage/projection/prices.ts';
import { Projector } from '../../storage/projection/projector.ts';
import type { Random } from '../common/random.ts';
import { Fixture, SMALL } from './read-fixture.ts';

const QUICK = { durability: 'committed', readOnly: false } as const;
/** Milliseconds after which everything that waits is due. */
const LATER = 100_000;
export const MINUTE_MS = 60_000;
const PART_MS = 300_000;
const DAY_PARTS = 288;
/** Newest fills, which are read from the ring and not from LMDB. */
const RING = 50;

interface Traded {
  readonly token: number;
  readonly time: number;
  readonly pips: number;
}

export class HistoryStage {
  readonly directory = mkdtempSync(join(tmpdir(), 'history-test-'));
  readonly fixture = new Fixture({ ...SMALL, trades: 4_000 });
  /** Tokens of a pair, of a market of three outcomes, and of another pair. */
  readonly tokens: TokenRow[];
  readonly log: string[] = [];
  readonly derived: DerivedTables;
  readonly traded: Traded[] = [];
  /** Market, time and micro-units of the taker, by fill. */
  readonly volumes: { readonly market: number; readonly time: number; readonly micro: number }[] =
    [];
  projections: Projections;
  private projector: Projector;
  private now = 0;
  private stored = 0;

  constructor() {
    const { fixture } = this;
    fixture.time = Date.UTC(2026, 0, 3, 11, 58, 30);
    this.tokens = [fixture.market(2, 100), fixture.market(3, 10), fixture.market(2, 1_000)];
    this.tokens.push((this.tokens[0]! + 1) as TokenRow, (this.tokens[1]! + 2) as TokenRow);
    this.derived = openDerivedTables(this.directory, QUICK);
    this.projections = new Projections(this.directory, QUICK);
    this.projector = this.newProjector();
  }

  get fills(): number {
    return this.fixture.t.state[State.fills]!;
  }

  /** Opens the service like a start of the node. */
  open(from: Projections | 'nothing' = this.projections): Promise<HistoryService> {
    const projections = from === 'nothing' ? undefined : from;
    const { t } = this.fixture;
    const log = (level: string, line: string): void => void this.log.push(`${level} ${line}`);
    // As after a restart that found no snapshot: the ring has the newest fills only.
    const fills = new StoredFills(t, this.derived.fills, Math.max(0, this.fills - RING));
    return HistoryService.open({ tables: t, fills, projections, log }, this.fills);
  }

  project(end = this.fills): void {
    do this.now += LATER;
    while (this.projector.step(this.derived, { fills: end, entries: 0 }, true, this.now));
    this.projections.root.resetReadTxn();
  }

  /** Reopens the environment like another process. */
  async reopen(change: () => void = () => undefined, readOnly = false): Promise<void> {
    await this.projections.close();
    change();
    this.projections = new Projections(this.directory, { ...QUICK, readOnly });
    this.projector = this.newProjector();
  }

  /** Trades at random, up to some hours apart; resolves when the trades are in LMDB. */
  async trade(random: Random, orders: number): Promise<void> {
    for (let i = 0; i < orders; i++) {
      const gaps = [0, 500, 20_000, MINUTE_MS, 17 * MINUTE_MS, 5 * 60 * MINUTE_MS];
      this.fixture.time += random.below(random.pick(gaps) + 1);
      this.fixture.trade(random, this.tokens, 1, 5);
    }
    await this.record();
  }

  async record(): Promise<void> {
    const { t } = this.fixture;
    const { fillF, fillI, fillRows, tokenI } = t;
    await this.derived.root.batch(() => {
      this.derived.fills.put(this.stored, this.fills, fillCopier(t));
    });
    for (let fill = this.stored; fill < this.fills; fill++) {
      const i = (fill % fillRows) * FILL_WORDS;
      const f = (fill % fillRows) * FILL_DOUBLES;
      const time = fillF[f + Fill.time]!;
      const token = fillI[i + Fill.takerToken]!;
      this.traded.push({ token, time, pips: fillI[i + Fill.takerPrice]! });
      if (fillI[i + Fill.kind] !== MatchKind.complementary) {
        const other = fillI[i + Fill.makerToken]!;
        this.traded.push({ token: other, time, pips: fillI[i + Fill.makerPrice]! });
      }
      const market = tokenI[(token << TOKEN_I) + Token.market]!;
      this.volumes.push({ market, time, micro: fillF[f + Fill.takerCollateral]! });
    }
    this.stored = this.fills;
  }

  /** The naive series: for each bucket the last trade before its end. */
  series(token: number, step: Step, first: number, last: number): number[] {
    const length = STEP_MINUTES[step] * MINUTE_MS;
    const own = this.traded.filter((trade) => trade.token === token);
    return Array.from({ length: last - first + 1 }, (_, i) => {
      const end = (first + i + 1) * length;
      return own.findLast(({ time }) => time < end)?.pips ?? 0;
    });
  }

  totalOf(market: number): number {
    return sum(this.volumes.filter((fill) => fill.market === market));
  }

  dayOf(market: number, nowMs: number): number {
    const oldest = Math.floor(nowMs / PART_MS) - DAY_PARTS;
    const isIn = (time: number): boolean => Math.floor(time / PART_MS) > oldest;
    return sum(this.volumes.filter((fill) => fill.market === market && isIn(fill.time)));
  }

  async close(): Promise<void> {
    await this.projections.close();
    await this.derived.root.close();
    rmSync(this.directory, { recursive: true, force: true });
  }

  private newProjector(): Projector {
    const warn = (line: string): void => void this.log.push(`follower ${line}`);
    const { projections } = this;
    return new Projector({ tables: this.fixture.t, projections, warn, needRows: () => undefined });
  }
}

function sum(fills: readonly { readonly micro: number }[]): number {
  return fills.reduce((total, { micro }) => total + micro, 0);
}
