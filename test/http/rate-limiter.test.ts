import assert from 'node:assert/strict';
import test from 'node:test';
import {
  ConnectedPeers,
  callerOf,
  callerOfBytes,
  peerOf,
} from '../../server/http/limits/callers.ts';
import { RateLimiter, type RatePlan } from '../../server/http/limits/rate-limiter.ts';
import {
  effectiveCaps,
  RATE_CLASSES,
  type RateCaps,
  type RateClass,
} from '../../server/http/limits/rate-limits.ts';
import { freshSeed, Random } from '../common/random.ts';

const START = 1_700_000_000_000;
const ADDRESS = callerOf('192.0.2.1');
const CAP = { requests: 2, seconds: 10 };

class Stage {
  readonly limiter: RateLimiter;
  now = START;

  constructor(caps: RateCaps = effectiveCaps({}), callersMax = 64, seed = 1) {
    this.limiter = new RateLimiter({ caps, seed, callersMax });
  }

  plan(...classes: readonly RateClass[]): RatePlan {
    return this.limiter.plan(classes);
  }

  take(plan: RatePlan, caller = ADDRESS) {
    return { ...this.limiter.take(caller, plan, this.now) };
  }

  taken(plan: RatePlan, caller = ADDRESS): number {
    let count = 0;
    while (this.take(plan, caller).allowed) count += 1;
    return count;
  }
}

test('a window starts with its first request and ends to the millisecond', () => {
  const stage = new Stage();
  const plan = stage.plan('book');
  const first = stage.take(plan);
  assert.deepEqual(first, {
    allowed: true,
    limit: 200,
    remaining: 199,
    resetMs: START + 10_000,
    warned: false,
    refusedInRow: 0,
  });
  stage.now = START + 9_000;
  assert.equal(stage.taken(plan), 199);
  stage.now = START + 9_999;
  const refused = stage.take(plan);
  assert.deepEqual(refused, {
    allowed: false,
    limit: 200,
    remaining: 0,
    resetMs: START + 10_000,
    warned: false,
    refusedInRow: 2,
  });
  stage.now = START + 10_000;
  assert.equal(stage.take(plan).resetMs, START + 20_000);
  assert.equal(stage.taken(plan), 199, 'what was refused does not count in the next window');
});

test('a request of larger weight fits whole or not at all, also at the start of a window', () => {
  const { limiter, now } = new Stage({ keyOrders: { requests: 10, seconds: 10 } });
  const plan = limiter.plan(['keyOrders'])!;
  const take = (weight: number, at = now) => {
    const { refusedInRow: _, ...decision } = limiter.take(ADDRESS, plan, at, weight);
    return decision;
  };
  const full = { allowed: false, limit: 10, remaining: 0, resetMs: START + 10_000, warned: false };
  assert.deepEqual(take(11), full, 'no window holds it');
  assert.deepEqual(take(10), { ...full, allowed: true });
  assert.deepEqual(take(1), full);
  assert.equal(take(7, START + 10_000).remaining, 3);
  assert.equal(take(4, START + 10_001).allowed, false);
  assert.equal(take(3, START + 10_002).remaining, 0);
});

test('a limiter that only warns counts and allows what exceeds a cap', () => {
  const limiter = new RateLimiter({ caps: { book: CAP }, seed: 1, warns: true });
  const plan = limiter.plan(['book']);
  const take = (at: number, weight = 1) => {
    const { allowed, remaining, warned } = limiter.take(ADDRESS, plan, at, weight);
    return [allowed, remaining, warned];
  };
  assert.deepEqual(take(START), [true, 1, false]);
  assert.deepEqual(take(START, 2), [true, 0, true]);
  assert.deepEqual(take(START), [true, 0, true], 'what exceeded the cap has counted');
  assert.equal(limiter.throttled[RATE_CLASSES.indexOf('book')], 2);
  assert.deepEqual(take(START + 10_000), [true, 1, false]);
});

test('a request has to fit every row that covers it, and a refused one counts in none', () => {
  const stage = new Stage();
  const events = stage.plan('events', 'listing', 'catalog');
  const markets = stage.plan('markets', 'listing', 'catalog');
  const general = stage.plan('catalog');
  assert.equal(stage.taken(events), 500);
  assert.equal(stage.taken(markets), 300);
  stage.now += 5_000;
  assert.equal(stage.taken(general), 3200, '4000 less the 800 that were taken, not those refused');
  assert.equal(stage.taken(stage.plan('trading')), 5000, 'rows are apart');
});

test('the combined cap of two lists binds before the sum of their own', () => {
  const stage = new Stage(effectiveCaps({ listing: { requests: 600, seconds: 10 } }));
  assert.equal(stage.taken(stage.plan('events', 'listing', 'catalog')), 500);
  const markets = stage.plan('markets', 'listing', 'catalog');
  assert.equal(stage.taken(markets), 100);
  assert.equal(stage.take(markets).limit, 600, 'the row that refuses is told');
});

test('writes are subject to their burst and their sustained window at once', () => {
  const stage = new Stage();
  const orders = stage.plan('orderBurst', 'orderSustained', 'trading');
  for (let window = 0; window < 10; window += 1) {
    assert.equal(stage.taken(orders), 2400, `window ${window}`);
    const { limit, resetMs } = stage.take(orders);
    // The last of them fills both.
    const end = window < 9 ? stage.now + 10_000 : START + 600_000;
    assert.deepEqual([limit, resetMs], [window < 9 ? 2400 : 24_000, end]);
    stage.now += 10_000;
  }
  // 24,000 are spent after a hundred seconds; the window began with the first of them.
  const refused = stage.take(orders);
  assert.deepEqual(refused, {
    allowed: false,
    limit: 24_000,
    remaining: 0,
    resetMs: START + 600_000,
    warned: false,
    refusedInRow: 3,
  });
  assert.equal(stage.taken(stage.plan('cancelBurst', 'cancelSustained', 'trading')), 2400);
  stage.now = START + 599_999;
  assert.equal(stage.take(orders).allowed, false);
  stage.now = START + 600_000;
  assert.equal(stage.taken(orders), 2400);
});

test('the longest wait of several full rows is the Retry-After', () => {
  const caps = { book: { requests: 1, seconds: 10 }, trading: { requests: 1, seconds: 60 } };
  for (const classes of [['book', 'trading'] as const, ['trading', 'book'] as const]) {
    const stage = new Stage(caps);
    const plan = stage.plan(...classes);
    assert.equal(stage.taken(plan), 1);
    assert.equal(stage.take(plan).resetMs, START + 60_000);
  }
});

test('rows that are off count nothing, and no limit applies without rows', () => {
  const stage = new Stage(effectiveCaps({ health: 'off', book: 'off' }));
  assert.equal(stage.plan('health', 'book').applying.length, 0);
  assert.equal(stage.plan().applying.length, 0);
  assert.equal(stage.take(stage.plan('health', 'trading')).limit, 5000);
});

test('other caps apply to existing plans, and a refusal counts in its row', () => {
  const stage = new Stage(effectiveCaps({ health: 'off' }));
  const plan = stage.plan('health', 'trading');
  assert.equal(stage.take(plan).limit, 5000);
  stage.limiter.setCaps(effectiveCaps({ health: { requests: 2, seconds: 10 } }));
  assert.equal(stage.taken(plan), 2);
  const row = RATE_CLASSES.indexOf('health');
  assert.deepEqual(
    [...stage.limiter.throttled].map((count, i) => (count > 0 ? i : -1)).filter((i) => i >= 0),
    [row],
  );
  stage.limiter.setCaps(effectiveCaps({ health: 'off', trading: 'off' }));
  assert.equal(plan.applying.length, 0);
});

test('a clock that is set back refuses nobody for longer than a window', () => {
  const stage = new Stage();
  const plan = stage.plan('health', 'orderSustained');
  assert.equal(stage.taken(plan), 50);
  stage.now = START - 3_600_000;
  assert.equal(stage.taken(plan), 50);
  assert.equal(stage.take(plan).resetMs, stage.now + 10_000);
});

test('callers are told apart by IPv4 address and by the first half of an IPv6 one', () => {
  const stage = new Stage();
  const plan = stage.plan('health');
  const count = (text: string) => stage.taken(plan, peerOf(text).caller);
  assert.equal(count('192.0.2.1'), 50);
  assert.equal(count('::ffff:192.0.2.1'), 0, 'the same, mapped into IPv6');
  assert.equal(count('192.0.2.2'), 50);
  assert.equal(count('2001:db8:1:2::1'), 50);
  assert.equal(count('2001:db8:1:2:ffff:ffff:ffff:ffff'), 0);
  assert.equal(count('2001:db8:1:3::1'), 50);
  assert.equal(count('2001:db8:2:2::1'), 50);
  assert.equal(count('::1'), 50);
  assert.equal(count('::2'), 0);
  assert.equal(count('1::'), 50);
  assert.equal(count('64:ff9b::192.0.2.1'), 50);
  assert.equal(count(''), 50, 'unknown callers are one');
  assert.equal(count('no address'), 0);
});

test('an address is the same caller in text and in bytes', () => {
  for (const [text, hex] of [
    ['192.0.2.255', 'c00002ff'],
    ['192.0.2.255', '00000000000000000000ffffc00002ff'],
    ['2001:db8:ffff:2::1', '20010db8ffff00020000000000000001'],
    ['::1', '00000000000000000000000000000001'],
    ['', ''],
  ] as const) {
    assert.deepEqual(callerOfBytes(Buffer.from(hex, 'hex')), peerOf(text).caller, hex);
  }
});

test('a flood of addresses resets no count, and its newcomers are limited together', () => {
  const seed = freshSeed();
  const random = new Random(seed);
  const stage = new Stage(effectiveCaps({}), 64, random.below(2 ** 31));
  const plan = stage.plan('health');
  assert.equal(stage.taken(plan), 50);
  const flood = Array.from({ length: 2000 }, (_, i) => callerOf(`2001:db8:${i.toString(16)}::`));
  let taken = 0;
  for (const caller of flood) taken += stage.taken(plan, caller);
  assert.equal(stage.take(plan).allowed, false, `SEED=${seed}`);
  // 64 places of one caller each, less that of the first, and 8 that are shared.
  assert(taken <= 71 * 50 && taken >= 8 * 50, `SEED=${seed} ${taken}`);
  stage.now += 10_000;
  assert.equal(stage.taken(plan), 50, 'places are free when their windows have ended');
});

test('the slot of a caller is kept for as long as one of its windows lasts', () => {
  const stage = new Stage(effectiveCaps({}), 8);
  const orders = stage.plan('orderBurst', 'orderSustained');
  const health = stage.plan('health');
  for (let window = 0; window < 10; window += 1, stage.now += 10_000) stage.taken(orders);
  for (let round = 0; round < 40; round += 1, stage.now += 10_000) {
    for (let i = 0; i < 50; i += 1) stage.take(health, callerOf(`10.0.${round}.${i}`));
    assert.equal(stage.take(orders).allowed, false);
  }
});

test('random requests of a few callers are accepted exactly as by a list of timestamps', () => {
  const seed = freshSeed();
  const random = new Random(seed);
  const caps = {
    book: { requests: 3, seconds: 2 },
    trading: { requests: 5, seconds: 3 },
    orderSustained: { requests: 9, seconds: 20 },
  };
  const stage = new Stage(caps, 8, seed);
  const windows = new Map<string, { start: number; count: number }>();
  for (let step = 0; step < 20_000; step += 1) {
    stage.now += random.below(700);
    const classes = (['book', 'trading', 'orderSustained'] as const).filter(
      () => random.below(2) === 0,
    );
    const plan = stage.limiter.plan(classes);
    if (plan === undefined) continue;
    const address = `10.0.0.${random.below(6)}`;
    const rows = classes.map((name) => {
      const key = `${address} ${name}`;
      const known = windows.get(key);
      const isOpen = known !== undefined && stage.now - known.start < caps[name].seconds * 1000;
      const row = isOpen ? known : { start: stage.now, count: 0 };
      return { key, row, cap: caps[name].requests };
    });
    const allowed = rows.every(({ row, cap }) => row.count < cap);
    assert.equal(stage.take(plan, callerOf(address)).allowed, allowed, `SEED=${seed} step ${step}`);
    if (!allowed) continue;
    for (const { key, row } of rows) windows.set(key, { ...row, count: row.count + 1 });
  }
});

test('the single peer of all connections is known until another one connects', () => {
  const peers = new ConnectedPeers();
  const sole = () => peers.sole?.address;
  const [one, other] = [peerOf('192.0.2.1'), peerOf('::1')];
  assert.equal(sole(), undefined);
  peers.opened(one);
  peers.opened(peerOf('192.0.2.1'));
  assert.equal(sole(), '192.0.2.1');
  peers.closed();
  assert.equal(sole(), '192.0.2.1');
  peers.opened(other);
  assert.equal(sole(), undefined);
  peers.closed();
  peers.opened(one);
  assert.equal(sole(), undefined, 'nobody tells which one has closed');
  for (let i = 0; i < 2; i += 1) peers.closed();
  assert.equal(sole(), undefined);
  peers.opened(other);
  assert.equal(sole(), '::1');
});
