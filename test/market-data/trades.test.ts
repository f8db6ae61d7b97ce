import assert from 'node:assert/strict';
import test from 'node:test';
import { OrderType } from '../../engine/commands.ts';
import { fillRows } from '../../engine/tables/capacities.ts';
import {
  FILL_DOUBLES,
  FILL_WORDS,
  Fill,
  State,
  TOKEN_I,
  Token,
} from '../../engine/tables/layout.ts';
import { checksumAddress } from '../../server/auth/checksum.ts';
import { keccak256 } from '../../server/auth/keccak.ts';
import { TradesIndex } from '../../server/market-data/trades-index.ts';
import { TradesRenderer } from '../../server/market-data/trades-render.ts';
import { TRADES_QUERY, type TradesQuery } from '../../server/market-data/trades-schemas.ts';
import type { Random } from '../common/random.ts';
import {
  addressWords,
  Fixture,
  idWords,
  plain,
  SMALL,
  walletWords,
  withSeedAsync,
  wordsHex,
} from './read-fixture.ts';

const HASH_OF_0 = '0x290decd9548b62a8d60345a988386fc84ba6bc95484008f6362f93160ef3e563';
const WALLETS = 6;

const INFO = {
  question: 'Will it "snow" in Ålesund?',
  slug: 'snow',
  icon: '/icons/snow.png',
  eventSlug: 'weather',
  outcomes: ['Yes', 'No \\ never'],
};

type TradeRow = Readonly<Record<string, string>>;

class Desk {
  readonly fixture: Fixture;
  readonly index: TradesIndex;
  readonly renderer: TradesRenderer;

  constructor(capacities = SMALL, firstFill = 0) {
    this.fixture = new Fixture(capacities);
    this.fixture.t.state[State.fills] = firstFill;
    this.index = new TradesIndex(this.fixture.t);
    this.renderer = new TradesRenderer(this.index, this.fixture.texts);
  }

  get fills(): number {
    return this.fixture.t.state[State.fills]!;
  }

  /** Publishes fills like a flush of the log. */
  flush(from = this.index.end): void {
    this.index.append(from, this.fills);
  }

  async text(query: string): Promise<string> {
    return (await this.renderer.render(parsed(query))).toString();
  }

  async rows(query: string): Promise<TradeRow[]> {
    return readRows(await this.text(query));
  }
}

function parsed(text: string): TradesQuery {
  const query = TRADES_QUERY.parse(text);
  assert(typeof query !== 'string', text);
  return query;
}

/** Reads rows and keeps numbers as texts, so that a comparison covers their form. */
function readRows(json: string): TradeRow[] {
  const quoted = json.replace(/":(-?[0-9][^,}]*)/g, '":"$1"');
  const rows = JSON.parse(quoted) as TradeRow[];
  assert.deepEqual(Object.keys(JSON.parse(json)[0] ?? {}), Object.keys(rows[0] ?? {}));
  return rows;
}

function wallet(n: number): string {
  return checksumAddress(Buffer.from(wordsHex(walletWords(n)).slice(2), 'hex'));
}

function condition(market: number): string {
  return wordsHex(idWords(market));
}

function tokenText(market: number, outcome: number): string {
  return BigInt(wordsHex(idWords(1_000 + market * 100 + outcome))).toString();
}

/** Every visible row, newest first, by reading all fills from the oldest to the newest. */
function scan(fixture: Fixture, first: number, end: number, takerOnly: boolean): TradeRow[] {
  const { fillF, fillI, fillRows, tokenI } = fixture.t;
  const matches = new Map<number, number[]>();
  for (let fill = first; fill < end; fill++) {
    const match = fillF[(fill % fillRows) * FILL_DOUBLES + Fill.match]!;
    matches.set(match, [...(matches.get(match) ?? []), fill % fillRows]);
  }
  const rows: TradeRow[] = [];
  for (const [match, fills] of [...matches].reverse()) {
    if (match < first) continue;
    const f64 = (row: number, column: number): bigint =>
      BigInt(fillF[row * FILL_DOUBLES + column]!);
    const i32 = (row: number, column: number): number => fillI[row * FILL_WORDS + column]!;
    const id = Buffer.alloc(32);
    id.writeBigUInt64BE(BigInt(match), 24);
    const hash = `0x${Buffer.from(keccak256(id)).toString('hex')}`;
    const add = (
      account: number,
      side: number,
      token: number,
      amounts: readonly bigint[],
    ): void => {
      const market = tokenI[(token << TOKEN_I) + Token.market]!;
      const outcome = tokenI[(token << TOKEN_I) + Token.outcome]!;
      const info = fixture.infos[market];
      rows.push({
        proxyWallet: checksumAddress(
          Buffer.from(wordsHex(addressWords(fixture.t, account)).slice(2), 'hex'),
        ),
        side: side === 0 ? 'BUY' : 'SELL',
        asset: `${condition(market)}:${outcome}`,
        token_id: tokenText(market, outcome),
        conditionId: condition(market),
        size: plain(amounts[0]!),
        price: plain(amounts[2]!),
        timestamp: String(f64(fills[0]!, Fill.time) / 1_000n),
        usdcSize: plain(amounts[1]!),
        title: info?.question ?? '',
        slug: info?.slug ?? '',
        icon: info?.icon ?? '',
        eventSlug: info?.eventSlug ?? '',
        outcome: info?.outcomes[outcome] ?? '',
        outcomeIndex: String(outcome),
        name: '',
        pseudonym: '',
        bio: '',
        profileImage: '',
        profileImageOptimized: '',
        transactionHash: hash,
      });
    };
    const size = fills.reduce((sum, row) => sum + f64(row, Fill.size), 0n);
    const paid = fills.reduce((sum, row) => sum + f64(row, Fill.takerCollateral), 0n);
    const prices = new Set(fills.map((row) => i32(row, Fill.takerPrice)));
    const average = (2n * paid * 1_000_000n + size) / (2n * size);
    const price = prices.size === 1 ? BigInt([...prices][0]!) * 100n : average;
    const [head] = fills;
    const takerSide = i32(head!, Fill.takerSide);
    add(i32(head!, Fill.taker), takerSide, i32(head!, Fill.takerToken), [size, paid, price]);
    if (takerOnly) continue;
    for (const row of fills) {
      const side = i32(row, Fill.kind) === 0 ? 1 - takerSide : takerSide;
      const makerPrice = BigInt(i32(row, Fill.makerPrice)) * 100n;
      const amounts = [f64(row, Fill.size), f64(row, Fill.makerCollateral), makerPrice];
      add(i32(row, Fill.maker), side, i32(row, Fill.makerToken), amounts);
    }
  }
  return rows;
}

interface Wanted {
  readonly user?: number;
  readonly markets?: readonly number[];
  readonly side?: string;
  readonly filterType?: string;
  readonly filterAmount?: string;
  readonly takerOnly?: boolean;
  readonly limit?: number;
  readonly offset?: number;
}

function toQuery(wanted: Wanted): string {
  const parts: string[] = [];
  if (wanted.user !== undefined) parts.push(`user=${wallet(wanted.user)}`);
  if (wanted.markets) parts.push(`market=${wanted.markets.map(condition).join(',')}`);
  for (const [name, value] of Object.entries(wanted)) {
    if (name !== 'user' && name !== 'markets') parts.push(`${name}=${value}`);
  }
  return parts.join('&');
}

function filterRows(rows: readonly TradeRow[], wanted: Wanted): TradeRow[] {
  const conditions = wanted.markets?.map(condition);
  const amount = Number(wanted.filterAmount ?? 0);
  const matching = rows.filter(
    (row) =>
      (wanted.user === undefined || row.proxyWallet === wallet(wanted.user)) &&
      (conditions === undefined || conditions.includes(row.conditionId!)) &&
      (!wanted.side || row.side === wanted.side) &&
      (wanted.filterType !== 'CASH' || Number(row.usdcSize) >= amount) &&
      (wanted.filterType !== 'TOKENS' || Number(row.size) >= amount),
  );
  const offset = wanted.offset ?? 0;
  return matching.slice(offset, offset + (wanted.limit ?? 100));
}

function anyQuery(random: Random, markets: number, page: number): Wanted {
  const wanted: { -readonly [Name in keyof Wanted]: Wanted[Name] } = {};
  if (random.chance(50)) wanted.user = random.between(1, WALLETS + 1);
  if (random.chance(40)) {
    // Repetitions and a market that does not exist are among them.
    const count = random.between(1, 4);
    wanted.markets = Array.from({ length: count }, () => random.between(1, markets + 1));
  }
  if (random.chance(30)) wanted.side = random.pick(['BUY', 'SELL']);
  if (random.chance(30)) {
    wanted.filterType = random.pick(['CASH', 'TOKENS']);
    wanted.filterAmount = random.pick(['0', '0.5', '3', '9.25', '20', '1e2', '12.3456789']);
  }
  if (random.chance(70)) wanted.takerOnly = random.chance(30);
  if (random.chance(60)) wanted.limit = random.below(page);
  if (random.chance(60)) wanted.offset = random.below(page);
  return wanted;
}

test('a row has the members, the order and the texts of the document', async () => {
  const desk = new Desk();
  const yes = desk.fixture.market(2, 100, false, INFO);
  desk.fixture.order({ wallet: 1, token: yes, ticks: 46, shares: 500_000_000, sell: true });
  const taken = { token: yes, ticks: 46, shares: 420_500_000, type: OrderType.FOK };
  desk.fixture.order({ wallet: 2, ...taken });
  desk.flush();
  const ids =
    `"asset":"${condition(1)}:0","token_id":"${tokenText(1, 0)}",` +
    `"conditionId":"${condition(1)}"`;
  const rest =
    `"size":420.5,"price":0.46,"timestamp":${desk.fixture.time / 1_000},"usdcSize":193.43,` +
    '"title":"Will it \\"snow\\" in Ålesund?","slug":"snow","icon":"/icons/snow.png",' +
    '"eventSlug":"weather","outcome":"Yes","outcomeIndex":0,"name":"","pseudonym":"","bio":"",' +
    `"profileImage":"","profileImageOptimized":"","transactionHash":"${HASH_OF_0}"`;
  const taker = `{"proxyWallet":"${wallet(2)}","side":"BUY",${ids},${rest}}`;
  const maker = `{"proxyWallet":"${wallet(1)}","side":"SELL",${ids},${rest}}`;
  assert.equal(await desk.text(''), `[${taker}]`);
  assert.equal(await desk.text('takerOnly=false'), `[${taker},${maker}]`);
});

test('a taker has one row for its whole request, at its average price, and each maker its own', async () => {
  const desk = new Desk();
  const yes = desk.fixture.market(2, 100);
  const sold = { token: yes, shares: 10_000_000, sell: true };
  desk.fixture.order({ wallet: 1, ticks: 40, ...sold });
  desk.fixture.order({ wallet: 2, ticks: 50, ...sold });
  // A bid for the other outcome is an offer of this one at 0.45.
  desk.fixture.order({ wallet: 3, token: yes + 1, ticks: 55, shares: 10_000_000 });
  desk.fixture.order({ wallet: 4, token: yes, ticks: 60, shares: 25_000_000, type: OrderType.FOK });
  desk.flush();
  const [taker, ...makers] = await desk.rows('takerOnly=0');
  assert.deepEqual(
    [taker?.proxyWallet, taker?.size, taker?.usdcSize, taker?.price, taker?.side],
    [wallet(4), '25', '11', '0.44', 'BUY'],
  );
  assert.deepEqual(
    makers.map((row) => [row.proxyWallet, row.side, row.outcomeIndex, row.size, row.price]),
    [
      [wallet(1), 'SELL', '0', '10', '0.4'],
      [wallet(3), 'BUY', '1', '10', '0.55'],
      [wallet(2), 'SELL', '0', '5', '0.5'],
    ],
  );
  assert.equal(new Set([taker, ...makers].map((row) => row?.transactionHash)).size, 1);
  assert.deepEqual(await desk.rows(`user=${wallet(1)}`), []);
  assert.equal((await desk.rows(`user=${wallet(1)}&takerOnly=false`)).length, 1);
});

test('no trade is visible before it is flushed', async () => {
  const desk = new Desk();
  const yes = desk.fixture.market(2, 10);
  desk.fixture.order({ wallet: 1, token: yes, ticks: 5, shares: 9_000_000 });
  desk.fixture.order({ wallet: 2, token: yes, ticks: 5, shares: 3_000_000, sell: true });
  desk.flush();
  desk.fixture.order({ wallet: 2, token: yes, ticks: 5, shares: 2_000_000, sell: true });
  assert.deepEqual(
    (await desk.rows('')).map((row) => row.size),
    ['3'],
  );
  desk.flush();
  assert.deepEqual(
    (await desk.rows('')).map((row) => row.size),
    ['2', '3'],
  );
});

test('the texts of trades follow the catalog', async () => {
  const desk = new Desk();
  const yes = desk.fixture.market(2, 10);
  desk.fixture.order({ wallet: 1, token: yes + 1, ticks: 5, shares: 9_000_000 });
  desk.fixture.order({ wallet: 2, token: yes + 1, ticks: 5, shares: 3_000_000, sell: true });
  desk.flush();
  assert.deepEqual([(await desk.rows(''))[0]?.title, (await desk.rows(''))[0]?.outcome], ['', '']);
  desk.fixture.infos[1] = INFO;
  const [row] = await desk.rows('');
  assert.deepEqual([row?.title, row?.outcome], [INFO.question, 'No \\ never']);
  desk.fixture.infos[1] = { ...INFO, question: 'later' };
  assert.equal((await desk.rows(''))[0]?.title, 'later');
});

test('every filter agrees with a scan of all fills, while old fills drop out', async () => {
  await withSeedAsync(async (random) => {
    const desk = new Desk({ ...SMALL, trades: random.between(40, 400) });
    const { fixture } = desk;
    const tokens: number[] = [];
    for (const outcomes of [2, 3, 2, 2]) {
      const first = fixture.market(outcomes, 10, false, random.chance(50) ? INFO : undefined);
      for (let i = 0; i < outcomes; i++) tokens.push(first + i);
    }
    for (let round = 0; round < 20; round++) {
      fixture.trade(random, tokens, random.between(1, 90), WALLETS);
      desk.flush();
      const first = Math.max(0, desk.fills - fixture.t.capacities.trades);
      const all = [false, true].map((only) => scan(fixture, first, desk.fills, only));
      for (let i = 0; i < 30; i++) {
        const wanted = anyQuery(random, 4, 60);
        const expected = filterRows(all[wanted.takerOnly === false ? 0 : 1]!, wanted);
        assert.deepEqual(await desk.rows(toQuery(wanted)), expected, toQuery(wanted));
      }
    }
  });
});

test('sequences above 2^32 and a wrapped ring of fills give the same answers', async () => {
  await withSeedAsync(async (random) => {
    const capacities = { ...SMALL, trades: 100, orders: 2_000, history: 2_000 };
    // A little before the ring of fills begins again.
    const start = Math.ceil(2 ** 32 / fillRows(capacities)) * fillRows(capacities) - 50;
    const desk = new Desk(capacities, start);
    const { fixture } = desk;
    const tokens = [fixture.market(2, 10), fixture.market(2, 10)];
    desk.flush(start);
    for (let round = 0; round < 6; round++) {
      fixture.trade(random, tokens, 60, WALLETS);
      desk.flush();
      const rows = scan(fixture, Math.max(start, desk.fills - 100), desk.fills, false);
      for (let i = 0; i < 20; i++) {
        const wanted = { ...anyQuery(random, 2, 60), takerOnly: false };
        assert.deepEqual(await desk.rows(toQuery(wanted)), filterRows(rows, wanted));
      }
    }
  });
});

/** Writes fills that wait for the log over all rows but those of the newest `left` visible fills. */
function overwrite({ fixture: { t }, index }: Desk, left: number): void {
  const end = index.end + t.fillRows - left;
  for (let fill = index.end; fill < end; fill++) {
    const row = fill % t.fillRows;
    t.fillI.fill(-1, row * FILL_WORDS, (row + 1) * FILL_WORDS);
  }
  t.state[State.fills] = end;
}

test('fills that wait for the log hide the matches over whose rows they are written', async () => {
  await withSeedAsync(async (random) => {
    const desk = new Desk();
    const tokens = [desk.fixture.market(2, 10, false, INFO), desk.fixture.market(3, 10)];
    desk.fixture.trade(random, tokens, 1_500, WALLETS);
    desk.flush();
    const { trades } = desk.fixture.t.capacities;
    const left = random.between(2, 300);
    assert(desk.fills > trades, 'the window is full');
    // The row of the next fill may be written to at this moment.
    const rows = scan(desk.fixture, desk.fills - left + 1, desk.fills, false);
    overwrite(desk, left);
    assert.deepEqual(await desk.rows('takerOnly=false&limit=10000'), rows);
    for (let i = 0; i < 20; i++) {
      const wanted = { ...anyQuery(random, 2, left), takerOnly: false };
      assert.deepEqual(await desk.rows(toQuery(wanted)), filterRows(rows, wanted));
    }
  });
});

test('an answer leaves out rows that are written over while it is made', async () => {
  await withSeedAsync(async (random) => {
    const capacities = { ...SMALL, trades: 2_500 };
    const deskOf = (orders: number): Desk => {
      const desk = new Desk(capacities);
      desk.fixture.trade(random, [desk.fixture.market(2, 10, false, INFO)], orders, WALLETS);
      desk.flush();
      return desk;
    };
    const rowsLeft = ({ fills, fixture }: Desk, left: number): TradeRow[] =>
      scan(fixture, fills - left + 1, fills, false);

    const short = deskOf(120);
    const few = rowsLeft(short, 20);
    let isBegun = false;
    // The renderer looks for the market of a row between selecting the row and reading it.
    Object.defineProperty(short.fixture.infos, 1, {
      get: () => {
        if (!isBegun) overwrite(short, 20);
        isBegun = true;
        return INFO;
      },
    });
    assert(few.length > 0 && short.index.first === 0);
    assert.deepEqual(await short.rows('takerOnly=false'), few);
    assert(isBegun);

    const long = deskOf(6_000);
    const many = rowsLeft(long, 900);
    // A long answer is read in later iterations.
    const answer = long.text('takerOnly=false&limit=2000');
    overwrite(long, 900);
    assert(many.length > 900);
    assert.deepEqual(readRows(await answer), many);
  });
});

test('after a restart the fills of a match that began before the loaded ones stay hidden', async () => {
  const desk = new Desk();
  const yes = desk.fixture.market(2, 10);
  for (let maker = 1; maker <= 3; maker++) {
    desk.fixture.order({ wallet: maker, token: yes, ticks: 5, shares: 1_000_000 });
  }
  desk.fixture.order({ wallet: 4, token: yes, ticks: 5, shares: 3_000_000, sell: true });
  desk.fixture.order({ wallet: 1, token: yes, ticks: 5, shares: 1_000_000 });
  desk.fixture.order({ wallet: 5, token: yes, ticks: 5, shares: 1_000_000, sell: true });
  desk.flush(1);
  for (const query of ['', `&market=${condition(1)}`]) {
    const rows = await desk.rows(`takerOnly=false${query}`);
    assert.deepEqual(
      rows.map((row) => row.proxyWallet),
      [wallet(5), wallet(1)],
    );
  }
  assert.deepEqual(await desk.rows(`takerOnly=false&user=${wallet(2)}`), []);
  assert.equal((await desk.rows(`takerOnly=false&user=${wallet(1)}`)).length, 1);
});

test('joined pages are the whole list, and a large page is whole while trading continues', async () => {
  await withSeedAsync(async (random) => {
    const window = 2_500;
    const desk = new Desk({ ...SMALL, trades: window });
    const { fixture } = desk;
    const tokens = [fixture.market(2, 10, false, INFO), fixture.market(3, 10)];
    fixture.trade(random, tokens, 6_000, WALLETS);
    desk.flush();
    const all = scan(fixture, Math.max(0, desk.fills - window), desk.fills, false);
    assert(all.length > 3_000, 'an answer of several pieces');
    const large = desk.text('takerOnly=false&limit=10000');
    // The first piece is written: what happens now must not show in the others.
    await desk.text('takerOnly=false&limit=10000&offset=700');
    fixture.trade(random, tokens, 6_000, WALLETS);
    desk.flush();
    assert.deepEqual(readRows(await large), all);
    const now = scan(fixture, Math.max(0, desk.fills - window), desk.fills, false);
    const pages: TradeRow[] = [];
    const limit = random.between(300, 900);
    for (let offset = 0; offset <= 10_000; offset += limit) {
      pages.push(...(await desk.rows(`takerOnly=false&limit=${limit}&offset=${offset}`)));
    }
    assert.deepEqual(pages, now);
  });
});

test('a limit of 0 and unknown wallets and markets give an empty array', async () => {
  const desk = new Desk();
  const yes = desk.fixture.market(2, 10);
  desk.fixture.order({ wallet: 1, token: yes, ticks: 5, shares: 9_000_000 });
  desk.fixture.order({ wallet: 2, token: yes, ticks: 5, shares: 3_000_000, sell: true });
  assert.equal(await desk.text(''), '[]');
  desk.flush();
  const unknown = `0x${'12'.repeat(20)}`;
  for (const query of ['limit=0', `user=${unknown}`, 'market=0x12', 'market=x', 'offset=1']) {
    assert.equal(await desk.text(query), '[]', query);
  }
  assert.equal(await desk.text(`market=${condition(9)}`), '[]');
  const upper = condition(1).slice(2).toUpperCase();
  assert.equal((await desk.rows(`market=0x${upper}&user=${wallet(2).toLowerCase()}`)).length, 1);
});
