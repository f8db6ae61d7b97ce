/**
 * A day of a venue, over real HTTP. An operator makes an event with three markets and a neg-risk
 * group, 50 wallets get money and trade while the node is killed, every market resolves, and every
 * wallet has its amounts by the naive ledger. A minute of trading with TEST_LONG=1, a moment in
 * `npm test`.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryDirectory } from '../common/node-harness.ts';
import { freshSeed, Random, SHORT } from '../common/random.ts';
import { MICRO } from '../common/traders.ts';
import { auditOf } from './day-audit.ts';
import { type DayMarket, DayVenue, type DayWallet } from './day-venue.ts';

const WALLETS = 50;
const isLong = SHORT === false;
/** Stretches of trading with a kill in each, after which everything is compared. */
const STRETCHES = isLong ? 12 : 1;
/**
 * Least time of a stretch; each lane also has a least number of requests, however slow the machine
 * is.
 */
const STRETCH_MS = isLong ? 5_000 : 0;
const STRETCH_STEPS = 50;
const OPEN_MAX = 250;
const GROUP = 1;

/** Wallets and markets without relation to those of the other lanes; its requests go one by one. */
class Lane {
  private readonly venue: DayVenue;
  private readonly random: Random;
  private readonly wallets: readonly DayWallet[];
  private readonly markets: readonly DayMarket[];

  constructor(
    venue: DayVenue,
    random: Random,
    wallets: readonly DayWallet[],
    markets: readonly DayMarket[],
  ) {
    this.venue = venue;
    this.random = random;
    this.wallets = wallets;
    this.markets = markets;
  }

  async step(): Promise<void> {
    const { markets, random, venue, wallets } = this;
    const wallet = random.pick(wallets);
    const market = random.pick(markets);
    const draw = random.below(100);
    const own = [...venue.open].filter(([, { maker }]) => maker === wallet.number);
    if (own.length > 0 && (draw < 8 || venue.open.size > OPEN_MAX)) {
      const chance = venue.open.size > OPEN_MAX ? 100 : 50;
      const doomed = own.map(([hash]) => hash).filter(() => random.chance(chance));
      if (doomed.length > 0) await venue.cancel(wallet, doomed);
    } else if (draw < 20) await venue.sets('split', wallet, market, this.amount(80));
    else if (draw < 24) await venue.sets('merge', wallet, market, this.amount(30));
    else if (draw < 27) await venue.pay('withdraw', wallet, this.amount(60));
    else if (draw < 30) await venue.pay('deposit', wallet, this.amount(50));
    else if (draw < 50) await this.takeAtOnce(wallet, market);
    else await this.rest(wallet, market);
  }

  private amount(units: number): number {
    return this.random.between(1, units * MICRO);
  }

  private ticks({ catalog: { ticksPerUnit } }: DayMarket): number {
    const percent = this.random.between(35, 65);
    return Math.floor((percent * ticksPerUnit) / 100) + (ticksPerUnit > 100 ? 3 : 0);
  }

  /** Sends a FOK, FAK or post-only order; odd sizes, so that amounts are rounded. */
  private async takeAtOnce(wallet: DayWallet, market: DayMarket): Promise<void> {
    const { random } = this;
    const kind = random.pick(['FOK', 'FAK', 'FAK', 'post-only'] as const);
    const isPostOnly = kind === 'post-only';
    const shares = isPostOnly ? random.between(1, 20) : random.between(MICRO, 25 * MICRO) / MICRO;
    await this.venue.orders(wallet, market, [
      {
        ...this.side(),
        ticks: this.ticks(market),
        shares,
        postOnly: isPostOnly,
        type: isPostOnly ? 'GTC' : kind,
      },
    ]);
  }

  private async rest(wallet: DayWallet, market: DayMarket): Promise<void> {
    const { random } = this;
    const { side } = this.side();
    const orders = Array.from({ length: random.between(1, 6) }, () => ({
      side,
      outcome: random.pick([0, 1] as const),
      ticks: this.ticks(market),
      shares: random.between(100, 3_000) / 100,
    }));
    await this.venue.orders(wallet, market, orders);
  }

  private side() {
    const { random } = this;
    const side = random.pick(['BUY', 'SELL'] as const);
    return { side, outcome: random.pick([0, 1] as const) };
  }
}

async function trade(venue: DayVenue, lanes: readonly Lane[], random: Random): Promise<void> {
  const end = performance.now() + STRETCH_MS;
  const deadly = random.between(5, STRETCH_STEPS - 5);
  let killed: Promise<void> | undefined;
  const trading = lanes.map(async (lane) => {
    for (let step = 0; step < STRETCH_STEPS || performance.now() < end; step++) {
      if (step === deadly) killed ??= sleep(random.below(8)).then(() => venue.kill());
      await lane.step();
    }
  });
  await Promise.all(trading);
  await killed;
}

/** Pays out some of the fees; slightly more than all of them is refused. */
async function payFees(venue: DayVenue, random: Random): Promise<void> {
  const wallet = random.pick(venue.wallets);
  const some = (): number => 1 + random.below(Math.max(1, Number(venue.ledger.fees) >> 1));
  await venue.pay('payFees', wallet, some());
  await venue.drawFees(some());
  await venue.pay('payFees', wallet, Number(venue.ledger.fees) + 1);
}

async function open(venue: DayVenue, random: Random): Promise<Lane[]> {
  const { event } = await venue.operate('POST /admin/events', { title: 'A day' });
  const wishes = [{ tick: '0.01' }, { tick: '0.001', fee: 200 }, { tick: '0.0001', fee: 35 }];
  for (const [i, wish] of wishes.entries()) {
    await venue.create({ question: `Question ${i}?`, event, ...wish }, false);
  }
  const group = { title: 'Who wins?', negRisk: true };
  const { event: groupEvent } = await venue.operate('POST /admin/events', group);
  for (const name of ['Owls', 'Foxes', 'Herons']) {
    await venue.create({ question: `Do the ${name} win?`, event: groupEvent }, true);
  }
  const coming = Array.from({ length: WALLETS }, async (_, i) => {
    // A few have too little for most of what they want.
    const micro = random.between(1, (random.chance(20) ? 5 : 400) * MICRO);
    await venue.pay('deposit', await venue.join(`day ${i}`), micro);
  });
  await Promise.all(coming);
  const splitting = venue.wallets.map(async (wallet) => {
    const own = venue.markets.filter(({ number }) => number % 3 === wallet.number % 3);
    for (const market of own)
      await venue.sets('split', wallet, market, random.between(1, 60 * MICRO));
  });
  await Promise.all(splitting);
  return [0, 1, 2].map(
    (lane) =>
      new Lane(
        venue,
        new Random(random.next()),
        venue.wallets.filter(({ number }) => number % 3 === lane),
        venue.markets.filter(({ number }) => number % 3 === lane),
      ),
  );
}

test('every micro-unit agrees with the naive ledger after a day of a venue through kills and resolutions', async () => {
  const seed = freshSeed();
  const random = new Random(seed);
  const dataDir = temporaryDirectory();
  const venue = await DayVenue.open(dataDir, { LEDGER: 'on', IMAGE_BATCHES: '50' });
  try {
    const lanes = await open(venue, random);
    const audit = auditOf(venue);
    for (let i = 0; i < STRETCHES; i++) {
      await trade(venue, lanes, random);
      await audit.compareAll();
      await venue.compareBooks();
      await payFees(venue, random);
    }
    const [yes, no, isVoid, owls, foxes, herons] = venue.markets as [
      DayMarket,
      DayMarket,
      DayMarket,
      DayMarket,
      DayMarket,
      DayMarket,
    ];
    const killed = sleep(random.below(20)).then(() => venue.kill());
    await venue.resolve(yes, [1, 0], 0);
    await killed;
    await venue.resolve(no, [0, 1], 0);
    await audit.compareAll();
    await venue.resolve(isVoid, [1, 1], 0);
    assert.equal(await venue.resolve(owls, [1, 0], GROUP), true);
    assert.equal(await venue.resolve(foxes, [1, 0], GROUP), false, 'one of a group wins');
    await venue.resolve(foxes, [0, 1], GROUP);
    await venue.resolve(herons, [0, 1], GROUP);
    await audit.compareAll();
    const killedAgain = sleep(random.below(8)).then(() => venue.kill());
    await payFees(venue, random);
    await killedAgain;
    await audit.compareAll();
    await audit.checkEnd(dataDir);
    const { fills, kills, refused } = venue.counts;
    assert(fills > 20 && refused > 5 && kills > 1, JSON.stringify(venue.counts));
  } catch (error) {
    console.error(`replay with: SEED=${seed}\n${JSON.stringify(venue.counts)}`);
    throw error;
  }
});
