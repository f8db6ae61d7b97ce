/** Figures of trading in small runs that can be computed by hand. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { backtest, type Strategy, type Venue } from '../../server/backtest/backtest.ts';
import { sortinoOf } from '../../server/backtest/equity.ts';
import type { TradeFigures } from '../../server/backtest/result.ts';
import { book, catalog, change, message, NO, START, trade, YES } from './entries.ts';

const DAY = 86_400_000;

function near(actual: number | undefined, expected: number, what = ''): void {
  assert(
    actual !== undefined && Math.abs(actual - expected) < 1e-9,
    `${what} ${actual} is ${expected}`,
  );
}

function at(steps: Readonly<Record<number, (venue: Venue) => void>>): Strategy {
  return {
    onStart(venue) {
      for (const [time, step] of Object.entries(steps))
        venue.after(START + Number(time) - venue.now, () => step(venue));
    },
  };
}

const resolved = (time: number, winner: string) =>
  message(time, {
    event_type: 'market_resolved',
    market: `0x${'1'.padStart(64, '0')}`,
    assets_ids: [YES, NO],
    winning_asset_id: winner,
  });

/** Middles: 0.42, from 1500 on 0.43, from 11500 on 0.44, from 30000 on 0.43. Yes wins at 70000. */
const ENTRIES = [
  catalog(),
  book(0, { '0.40': 100 }, { '0.44': 100, '0.46': 100 }),
  change(1_500, 'BUY', '0.42', 50),
  trade(8_000, 'SELL', '0.41', 4),
  change(11_500, 'SELL', '0.44', 0),
  change(30_000, 'BUY', '0.42', 0),
  resolved(70_000, YES),
];

/** Buys 10 at 0.44 at once, and 4 of 10 at 0.41 at 8000. */
const TRADER = at({
  1000(venue) {
    venue.place({ token: YES, side: 'BUY', price: 0.44, size: 10 });
    venue.place({ token: YES, side: 'BUY', price: 0.41, size: 10 });
  },
});

test('adverse selection is the move of the middle against the fills, weighted by shares', async () => {
  const { figures } = await backtest(ENTRIES, TRADER);
  near(figures.adverse1s, (10 * (0.42 - 0.43) + 4 * (0.43 - 0.43)) / 14);
  near(figures.adverse10s, (10 * (0.42 - 0.43) + 4 * (0.43 - 0.44)) / 14);
  near(figures.adverse60s, (10 * (0.42 - 0.43) + 4 * (0.43 - 0.43)) / 14);
});

test('fills of the second outcome count the other way round, and late fills have no later middle', async () => {
  const buysNo = at({
    1000: (venue) => void venue.place({ token: NO, side: 'BUY', price: 0.6, size: 10 }),
    25000: (venue) => void venue.place({ token: NO, side: 'SELL', price: 0.54, size: 5 }),
  });
  const { figures } = await backtest(ENTRIES.slice(0, -1), buysNo);
  assert.equal(figures.fills, 2);
  // At 25000 five are sold at the best price, an ask of Yes at 0.46: nothing comes after 30000.
  near(figures.adverse1s, (10 * (0.43 - 0.42) + 5 * 0) / 15);
  near(figures.adverse10s, 0.01);
  assert.equal(figures.adverse60s, undefined);
  assert.deepEqual([figures.brier, figures.brierAdvantage], [undefined, undefined]);
});

test('fill rate and time at the best price count accepted orders and the time since the first', async () => {
  const { figures } = await backtest(ENTRIES, TRADER);
  near(figures.fillRate, 14 / 20);
  // One side from 1000 to 1500, and from 30000 to 70000, of 69 seconds.
  near(figures.timeAtBest, (500 + 40_000) / 2 / 69_000);
  const refused = at({
    5: (venue) => void venue.place({ token: YES, side: 'SELL', price: 0.5, size: 10 }),
  });
  const none = await backtest(ENTRIES, refused);
  assert.deepEqual([none.figures.fillRate, none.figures.timeAtBest], [undefined, undefined]);
});

test('the Brier score is of prices traded at, or of stated probabilities, beside the middles', async () => {
  const { figures, markets } = await backtest(ENTRIES, TRADER);
  const market = (10 * 0.58 ** 2 + 4 * 0.57 ** 2) / 14;
  const brier = (10 * 0.56 ** 2 + 4 * 0.59 ** 2) / 14;
  near(figures.brier, brier);
  near(figures.brierAdvantage, market - brier);
  near(markets[0]?.brierAdvantage, market - brier);
  const stating = at({
    1000: (venue) =>
      void venue.place({ token: NO, side: 'BUY', price: 0.6, size: 10, probability: 0.3 }),
  });
  const stated = await backtest(ENTRIES, stating);
  // 0.3 of No is 0.7 of Yes, which wins.
  near(stated.figures.brier, 0.3 ** 2);
  near(stated.figures.brierAdvantage, 0.58 ** 2 - 0.3 ** 2);
  const lost = await backtest([...ENTRIES.slice(0, -1), resolved(70_000, NO)], stating);
  near(lost.figures.brier, 0.7 ** 2);
  await assert.rejects(
    backtest(
      ENTRIES,
      at({
        5: (venue) =>
          void venue.place({ token: YES, side: 'BUY', price: 0.4, size: 10, probability: 2 }),
      }),
    ),
    /a probability is from 0 to 1, not 2/,
  );
});

test('figures of days and markets add up to those of the run', async () => {
  const entries = [
    ...ENTRIES.slice(0, -1),
    // On the second day half of the shares are sold at the best bid, and the middle falls by 5.
    book(DAY, { '0.35': 100 }, { '0.41': 100 }),
    change(DAY + 5_000, 'SELL', '0.41', 30),
    resolved(2 * DAY, YES),
  ];
  const steps = at({
    1000: (venue) => void venue.place({ token: YES, side: 'BUY', price: 0.44, size: 10 }),
    [DAY + 1_000]: (venue) => void venue.place({ token: YES, side: 'SELL', price: 0.35, size: 5 }),
  });
  const { days, figures, markets } = await backtest(entries, steps);
  const sum = (name: 'fills' | 'turnover' | 'fees') =>
    days.reduce((total, day) => total + (day as TradeFigures)[name], 0);
  assert.equal(days.length, 3);
  assert.equal(sum('fills'), figures.fills);
  near(sum('turnover'), figures.turnover);
  // 10 at 0.44, worth 0.43 at the end of the first day; the middle is 0.38 then, and 5 are sold at 0.35.
  const [first, second, third] = days;
  near(first?.profit, 10 * (0.43 - 0.44));
  near(first?.positions, 4.3);
  // Bought at a middle of 0.42; equity was highest at a middle of 0.44.
  near(first?.drawdown, 0.2);
  near(second?.profit, 10 * (0.38 - 0.43) - 5 * (0.38 - 0.35));
  near(second?.drawdown, 0.65);
  near(third?.profit, 5 * (1 - 0.38));
  near(second?.turnover, 1.75);
  const [market] = markets;
  near(market?.profit, figures.profit);
  near(market?.drawdown, figures.drawdown.amount);
  assert.equal(market?.sharesMax, 10);
  const profits = days.map(({ profit }) => profit);
  const mean = profits.reduce((total, each) => total + each, 0) / 3;
  near(
    market?.sortino,
    (mean / Math.sqrt((profits[0]! ** 2 + profits[1]! ** 2) / 3)) * Math.sqrt(365),
  );
});

test('the Sortino ratio is the mean over the deviation of losses, times the root of 365', () => {
  near(sortinoOf([0.01, 0.03, -0.01]), (0.01 / Math.sqrt(0.0001 / 3)) * Math.sqrt(365));
  near(sortinoOf([0.03, -0.01], 1), sortinoOf([0.03, 0, -0.01])!);
  assert.equal(sortinoOf([0.01, 0.02]), undefined);
  assert.equal(sortinoOf([-0.01]), undefined);
});
