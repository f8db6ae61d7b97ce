/**
 * Effect of the settings of the fill model on the same traders and recordings, as a table of Markdown. The
 * queue rule counts for a trader that waits, and the impact for one that takes. Nothing is random.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { MirroredBookOptions } from '../../engine/paper/mirrored-book.ts';
import { PaperBook, type RecordedMarket, readMarket, SHARE } from './paper-book.ts';
import { ACCOUNT, CASH, Maker, midOf, type PaperTrader, SHARES, Taker } from './traders.ts';

/** Folder of recorded streams, beside a checkout. */
const SHARED = '../shared/data';

type Setting = Pick<MirroredBookOptions, 'impact' | 'queue'>;

const RUNS: readonly {
  readonly name: string;
  readonly trader: () => PaperTrader;
  readonly setting: Setting;
}[] = [
  { name: 'maker', trader: () => new Maker(), setting: { impact: 'keep', queue: 'pessimistic' } },
  { name: 'maker', trader: () => new Maker(), setting: { impact: 'keep', queue: 'proportional' } },
  { name: 'taker', trader: () => new Taker(), setting: { impact: 'keep', queue: 'pessimistic' } },
  {
    name: 'taker',
    trader: () => new Taker(),
    setting: { impact: 'restore', queue: 'pessimistic' },
  },
];

export interface FillModelRow {
  readonly fills: number;
  /** Shares traded, cash gained, shares gained and what all of it is worth at the last midpoint. */
  readonly shares: number;
  readonly cash: number;
  readonly position: number;
  readonly value: number;
}

/** Prints the table. @param paths none = the recordings beside the checkout */
export async function fillModelSuite(paths: readonly string[]): Promise<FillModelRow[]> {
  const rows: FillModelRow[] = [];
  const print = (cells: readonly (string | number)[]): void => {
    process.stdout.write(`| ${cells.join(' | ')} |\n`);
  };
  print(['recording', 'trader', 'setting', 'fills', 'shares', 'cash', 'position', 'value']);
  print(['---', '---', '---', '--:', '--:', '--:', '--:', '--:']);
  for (const path of paths.length > 0 ? paths : sharedPaths()) {
    const market = await readMarket(path);
    for (const { name, setting, trader } of RUNS) {
      const row = runTrader(market, setting, trader());
      rows.push(row);
      const { cash, fills, position, shares, value } = row;
      const by = name === 'maker' ? setting.queue : setting.impact;
      const money = [cash, position, value].map((amount) => amount.toFixed(2));
      print([market.name, name, by, fills, shares.toFixed(0), ...money]);
    }
  }
  return rows;
}

function sharedPaths(): string[] {
  if (!existsSync(SHARED)) return [];
  const names = readdirSync(SHARED).filter((name) => name.startsWith('book-stream-shared-'));
  return names.map((name) => join(SHARED, name));
}

function runTrader(market: RecordedMarket, setting: Setting, trader: PaperTrader): FillModelRow {
  const paper = new PaperBook(market, setting);
  const { sim, token } = paper;
  sim.deposit(ACCOUNT, CASH + SHARES);
  sim.split(ACCOUNT, token, SHARES);
  for (const message of market.messages) {
    paper.play(message);
    trader.act(paper, Number(message.timestamp));
  }
  // A print has no order on either side.
  const fills = sim.fills().filter(({ maker, taker }) => maker !== 0 || taker !== 0);
  const cash = (sim.cash(ACCOUNT).total - CASH) / SHARE;
  const position = (sim.position(ACCOUNT, token).total - SHARES) / SHARE;
  return {
    fills: fills.length,
    shares: fills.reduce((sum, { size }) => sum + size, 0) / SHARE,
    cash,
    position,
    value: cash + position * midOf(paper.book),
  };
}
