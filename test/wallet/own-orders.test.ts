/** Pages of open orders and orders by id, from real engine tables, compared with a list of the test. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import test from 'node:test';
import { OrderType } from '../../engine/commands.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { EndReason, Status } from '../../engine/tables/codes.ts';
import { TOKEN_I, Token } from '../../engine/tables/layout.ts';
import { wordsToHex } from '../../server/common/uint256.ts';
import { Unavailable } from '../../server/common/unavailable.ts';
import { SequenceLockReader } from '../../server/orders/exchange-memory/sequence-lock-reader.ts';
import { Control } from '../../server/orders/exchange-memory/slots.ts';
import { type OrderFilter, OwnOrders } from '../../server/wallet/own-orders.ts';
import { NOBODY, PAGE_SIZE } from '../../server/wallet/pages.ts';
import { startThread } from '../common/forms.ts';
import { freshSeed } from '../common/random.ts';
import {
  Fixture,
  orderIdWords,
  SMALL,
  walletWords,
  withSeedAsync,
} from '../market-data/read-fixture.ts';
import { finalCopy } from '../storage/stored-exchange.ts';
import { orderTerms } from './order-terms.ts';

const ANY: OrderFilter = { market: 0, token: 0, maker: 0 };
const SHARE = 1_000_000;

/** Runs a function before every read, like a writer between two reads. */
class DisturbedReads extends SequenceLockReader {
  private readonly disturb: () => void;

  constructor(disturb: () => void) {
    super(undefined, setImmediate);
    this.disturb = disturb;
  }

  override read<T>(read: () => T): Promise<T> {
    this.disturb();
    return super.read(read);
  }
}

class Desk {
  readonly fixture: Fixture;
  readonly orders: OwnOrders;
  open: { n: number; owner: number; wallet: number; token: number }[] = [];
  placed = 0;

  constructor(disturb: () => void = () => undefined, piecesMax?: number) {
    this.fixture = new Fixture(SMALL);
    const parts = {
      tables: this.fixture.t,
      sequenceLock: new DisturbedReads(disturb),
      storedClosedOrder: () => undefined,
    };
    this.orders = piecesMax === undefined ? new OwnOrders(parts) : new OwnOrders(parts, piecesMax);
  }

  /** Places an order that rests: bids for the first outcome, at the lowest prices. */
  rest(token: number, wallet: number, signer: number, ticks = 1): void {
    const shares = SHARE;
    this.placed += 1;
    const reason = this.fixture.order({ wallet, signer, token, ticks, shares });
    assert.equal(reason, RejectReason.accepted);
    this.open.push({ n: this.placed, owner: signer, wallet, token });
  }

  cancel(n: number): void {
    const order = this.open.find((one) => one.n === n)!;
    assert.equal(this.fixture.cancel(n, order.owner), RejectReason.accepted);
    this.open = this.open.filter((one) => one.n !== n);
  }

  ownerSlot(n: number): number {
    return this.orders.owner(addressOf(n));
  }
}

function addressOf(wallet: number): Buffer {
  return Buffer.from(wordsToHex(walletWords(wallet), 0, 5).slice(2), 'hex');
}

function idOf(n: number): string {
  return wordsToHex(orderIdWords(n), 0, 8);
}

test('pages hold the open orders of their owner, newest first, by every filter', async () => {
  await withSeedAsync(async (random) => {
    const desk = new Desk();
    const tokens = [desk.fixture.market(2, 10), desk.fixture.market(3, 100)];
    for (let i = 0; i < 1_500; i++) {
      const signer = random.between(1, 3);
      const token = random.pick(tokens) + (random.chance(30) ? 1 : 0);
      desk.rest(token, 10 * signer + random.below(2), signer);
      if (random.chance(25)) desk.cancel(random.pick(desk.open).n);
    }
    const { t } = desk.fixture;
    for (let owner = 1; owner <= 3; owner++) {
      for (const maker of [0, 10 * owner, 10 * owner + 1]) {
        for (const token of [0, ...tokens, tokens[1]! + 1]) {
          const filter = {
            market: random.chance(50) ? 0 : 2,
            token,
            maker: maker === 0 ? 0 : desk.orders.owner(addressOf(maker)),
          };
          const expected = desk.open
            .filter((one) => one.owner === owner)
            .filter((one) => maker === 0 || one.wallet === maker)
            .filter((one) => token === 0 || one.token === token)
            .filter(
              (one) => filter.market === 0 || t.tokenI[(one.token << TOKEN_I) + Token.market] === 2,
            )
            .map(({ n }) => idOf(n))
            .reverse();
          for (const offset of [0, 1, PAGE_SIZE, expected.length - 1, expected.length, 5_000]) {
            if (offset < 0) continue;
            const page = await desk.orders.page(desk.ownerSlot(owner), filter, offset);
            assert(page !== undefined);
            const shown = page.rows.map(({ id }) => wordsToHex(id, 0, 8));
            assert.deepEqual(shown, expected.slice(offset, offset + PAGE_SIZE));
            assert.equal(page.more, offset + PAGE_SIZE < expected.length);
          }
        }
      }
    }
    assert.deepEqual(await desk.orders.page(0, ANY, 0), { rows: [], more: false });
    const nobodys = { ...ANY, maker: NOBODY };
    assert.deepEqual(await desk.orders.page(desk.ownerSlot(1), nobodys, 0), {
      rows: [],
      more: false,
    });
  });
});

test('a page far back is found although orders end during the search', async () => {
  let reads = 0;
  let churn = false;
  const desk = new Desk(() => {
    reads += 1;
    if (!churn || reads % 2 === 0 || reads > 12) return;
    // The order at which the next piece begins goes, and its row is used again at once.
    const mine = desk.open.filter((one) => one.owner === 1).toReversed();
    for (const place of [3_000, 2_000, 1_000]) {
      desk.cancel(mine[place]!.n);
      desk.rest(1, 2, 2);
    }
  });
  const token = desk.fixture.market(2, 10);
  for (let i = 0; i < 4_200; i++) desk.rest(token, 1, 1);
  churn = true;
  const oldest = desk.open.slice(0, 60).map(({ n }) => idOf(n));
  const page = await desk.orders.page(desk.ownerSlot(1), ANY, 4_100);
  assert(page !== undefined && !page.more);
  assert(reads > 6, 'it went back at least once');
  const shown = page.rows.map(({ id }) => wordsToHex(id, 0, 8));
  assert.equal(new Set(shown).size, shown.length, 'nothing twice');
  assert.deepEqual(shown.slice(-60), oldest.toReversed(), 'up to the very end');
  assert(page.rows.every(({ status }) => status === Status.live));
});

test('a walk that never comes to an end gives up', async () => {
  const desk = new Desk(() => undefined, 2);
  const token = desk.fixture.market(2, 10);
  for (let i = 0; i < 2_100; i++) desk.rest(token, 1, 1);
  assert.equal(await desk.orders.page(desk.ownerSlot(1), ANY, 2_050), undefined);
  assert.notEqual(await desk.orders.page(desk.ownerSlot(1), ANY, 1_500), undefined);
});

test('an order is found by its id in any state, by its owner alone, at its own price', async () => {
  const desk = new Desk();
  const { fixture } = desk;
  const token = fixture.market(2, 100);
  desk.rest(token, 1, 1, 30);
  desk.rest(token + 1, 1, 1, 20);
  const bytes = (n: number): Buffer => Buffer.from(idOf(n).slice(2), 'hex');
  const owner = desk.ownerSlot(1);
  const open = await desk.orders.find(owner, bytes(2));
  assert.equal(open?.price, 2_000, 'pips of its own token, though the book has the other price');
  assert.deepEqual([open.status, open.reason, open.remaining], [Status.live, 0, SHARE]);
  assert.equal(await desk.orders.find(desk.orders.owner(addressOf(9)), bytes(2)), undefined);
  assert.equal(await desk.orders.find(owner, bytes(3)), undefined);

  const taker = { token: token + 1, wallet: 5, ticks: 20, shares: SHARE, sell: true };
  assert.equal(fixture.order({ ...taker, type: OrderType.FOK }), RejectReason.accepted);
  assert.equal(await desk.orders.find(desk.orders.owner(addressOf(5)), bytes(2)), undefined);
  const filled = await desk.orders.find(owner, bytes(2));
  assert.equal(filled?.price, 2_000);
  assert.deepEqual(
    [filled.status, filled.reason, filled.remaining],
    [Status.matched, EndReason.filled, 0],
  );

  // As the follower stores it, in another process.
  const final = finalCopy(fixture.t, 0);
  const elsewhere = new OwnOrders({
    tables: fixture.t,
    sequenceLock: new SequenceLockReader(undefined, setImmediate),
    storedClosedOrder: (id) => (id.equals(final.id) ? final.row : undefined),
  });
  fixture.t.orderIndex.fill(0);
  assert.deepEqual(await elsewhere.find(owner, bytes(2)), filled);
  assert.equal(await elsewhere.find(owner, bytes(1)), undefined);
});

test('a read that meets a writer is repeated, and waits when it meets one every time', async () => {
  const control = new SharedArrayBuffer(4 * Control.words);
  const words = new Int32Array(control);
  let waits = 0;
  const sequenceLock = new SequenceLockReader(control, (callback) => {
    waits += 1;
    words[Control.writer] = 0;
    setImmediate(callback);
  });
  let runs = 0;
  const disturbed = await sequenceLock.read(() => {
    runs += 1;
    // Another batch has its writer turn meanwhile, from its beginning to its end.
    if (runs < 3) words[Control.writerTurn] = words[Control.writerTurn]! + 1;
    return runs;
  });
  assert.deepEqual([disturbed, waits], [3, 0]);
  words[Control.writer] = 7;
  assert.equal(await sequenceLock.read(() => 'settled'), 'settled');
  assert.equal(waits, 1);
  let entered = 0;
  const late = await sequenceLock.read(() => {
    entered += 1;
    if (entered === 1) words[Control.writer] = 9;
    return entered;
  });
  assert.deepEqual([late, waits], [2, 2]);
});

test('a read of data that a cluster may never commit is unavailable, and no failure', async () => {
  let answer = (_: boolean): void => undefined;
  const commits = {
    isCommitted: () => false,
    whenCommitted: (callback: (isCommitted: boolean) => void) => {
      answer = callback;
    },
  };
  const sequenceLock = new SequenceLockReader(
    new SharedArrayBuffer(4 * Control.words),
    setImmediate,
    commits,
  );
  const committed = sequenceLock.read(() => 7);
  answer(true);
  assert.equal(await committed, 7);
  const lost = sequenceLock.read(() => 7);
  answer(false);
  await assert.rejects(lost, Unavailable);
});

test('rows read while a thread writes are whole, and of the owner that requested them', async () => {
  const seed = freshSeed();
  // On a machine that is busy this thread may have hardly a turn while the other one writes.
  let rows = 0;
  for (let tries = 0; tries < 20 && rows <= 500; tries++) rows += await rowsReadWhile(seed + tries);
  assert(rows > 500, `${rows} rows, SEED=${seed}`);
});

/** Reads and checks rows while a thread writes; returns their number. */
async function rowsReadWhile(seed: number): Promise<number> {
  const fixture = new Fixture(SMALL);
  const token = fixture.market(2, 10);
  const control = new SharedArrayBuffer(4 * Control.words);
  const count = 8_000;
  /** Numbers by the first word of an id: cheap checks, so that many reads meet the writer. */
  const numbers = new Map<number, number>();
  for (let n = 1; n <= count + 60; n++) numbers.set(orderIdWords(n)[0]!, n);
  const orders = new OwnOrders({
    tables: fixture.t,
    sequenceLock: new SequenceLockReader(control, setImmediate),
    storedClosedOrder: () => undefined,
  });
  const workerData = { control, memory: fixture.t.memory, token, orders: count, seed };
  const worker = startThread('wallet/orders-writer', workerData);
  let isDone = false;
  const ended = once(worker, 'message').finally(() => {
    isDone = true;
  });
  const filter = { ...ANY, token };
  let rows = 0;
  let isWrong = false;
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    const owner = orders.owner(addressOf(1));
    const wallets = [0, 1, 2, 3].map((n) => orders.owner(addressOf(n)));
    for (let i = 0; i < 20; i++) {
      const page = await orders.page(owner, filter, 0);
      let newest = Number.POSITIVE_INFINITY;
      for (const { id, maker, original, price, remaining, status, ...row } of page!.rows) {
        const n = numbers.get(id[0]!) ?? 0;
        const { shares, ticks, wallet } = orderTerms(n);
        isWrong ||= n >= newest || row.owner !== owner || maker !== wallets[wallet];
        isWrong ||= price !== 1_000 * ticks || original !== shares || status !== Status.live;
        isWrong ||= remaining <= 0 || remaining > original;
        newest = n;
      }
      rows += page!.rows.length;
    }
    assert(!isWrong, `SEED=${seed}`);
  }
  await ended;
  return rows;
}
