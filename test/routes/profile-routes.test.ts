/** Every row of the table of CLIENT_PROFILE, seen from outside, in both profiles. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { NodeClient } from '../../client/client.ts';
import { level1 } from '../../client/credentials.ts';
import { Wallets, walletFactories } from '../../server/auth/wallet-factory.ts';
import { SYNC_LIMITS } from '../../server/catalog/sync-client.ts';
import { pullCatalog } from '../../server/catalog/sync-pull.ts';
import { REFUSALS } from '../../server/common/refusals.ts';
import { bytesToHex } from '../../server/common/uint256.ts';
import { PROFILES, type Profile } from '../../server/config/kinds.ts';
import { PROFILE_TABLE, type ProfileName } from '../../server/config/profile.ts';
import { get, send, until } from '../common/node-harness.ts';
import { CHAIN_ID, seconds, type Terms } from '../common/traders.ts';
import {
  json,
  NEG_RISK_2,
  own,
  post,
  refusal,
  signed2,
  type Venue,
  venues,
} from './profile-venue.ts';

const DEPOSIT_WALLET = 3;
const depositWallets = new Wallets(
  walletFactories({
    proxyWalletFactory: 'none',
    safeWalletFactory: 'none',
    beaconWalletFactory: PROFILE_TABLE.beaconWalletFactory.polymarket,
    uupsWalletFactory: PROFILE_TABLE.uupsWalletFactory.polymarket,
  }),
);

interface Seen extends Readonly<Record<Profile, unknown>> {
  readonly look: (venue: Venue) => Promise<unknown>;
}

/** An order of version 1 by a deposit wallet: it is of the caller or not, before it is wrong in another way. */
function depositWalletRow(kind: number): Seen {
  return {
    look: (venue) => {
      const owner = Buffer.from(venue.alice.address.slice(2), 'hex');
      const wallet = depositWallets.walletsOf(DEPOSIT_WALLET, owner)[kind]!;
      const address = bytesToHex(wallet, 0, wallet.length);
      const signed = { maker: address, signer: address, signatureType: DEPOSIT_WALLET };
      return refusal(venue, { signed });
    },
    spec: REFUSALS.OWNER_MISMATCH.texts[0],
    polymarket: 'invalid order signature',
  };
}

/** Visible effect of each row. A new row needs one. */
const ROWS: Readonly<Record<ProfileName, Seen>> = {
  credentialPrefix: {
    look: async ({ node }) => ((await get(node, '/data/orders')).json as { error: string }).error,
    spec: 'invalid_l2: missing header SERVICE_ADDRESS',
    polymarket: 'invalid_l2: missing header POLY_ADDRESS',
  },
  domainName: {
    look: (venue) =>
      refusal(venue, { domain: { ...venue.rules.normal, name: 'Polymarket CTF Exchange' } }),
    spec: 'invalid order signature',
    polymarket: '',
  },
  exchangeAddress: {
    look: (venue) => {
      const verifyingContract = '0x4bFb41d5B3570DeFd03C39a9A4D8dE6Bd8B8982E';
      return refusal(venue, { domain: { ...venue.rules.normal, verifyingContract } });
    },
    spec: 'invalid order signature',
    polymarket: '',
  },
  negRiskExchangeAddress: {
    look: (venue) => {
      const verifyingContract = '0xC5d563A36AE78145C45a50134d48A1215220f80a';
      const domain = { ...venue.rules.normal, verifyingContract };
      return refusal(venue, { market: venue.risky, domain });
    },
    spec: 'invalid order signature',
    polymarket: '',
  },
  exchangeAddress3: {
    look: async ({ node }) =>
      ((await get(node, '/exchange-info')).json as { exchange_address_3?: string })
        .exchange_address_3,
    spec: undefined,
    polymarket: '0xe3333700cA9d93003F00f0F71f8515005F6c00Aa',
  },
  beaconWalletFactory: depositWalletRow(0),
  uupsWalletFactory: depositWalletRow(1),
  proxyWalletFactory: {
    look: (venue) =>
      refusal(venue, { signed: { maker: `0x${'11'.repeat(20)}`, signatureType: 1 } }),
    spec: '',
    polymarket: 'invalid order signature',
  },
  safeWalletFactory: {
    look: (venue) =>
      refusal(venue, { signed: { maker: `0x${'22'.repeat(20)}`, signatureType: 2 } }),
    spec: '',
    polymarket: 'invalid order signature',
  },
  orderVersion: {
    look: async (venue) => {
      const { error, errorMsg } = await post(venue, signed2(venue).item);
      const { allowances } = (await own(venue, '/balance-allowance?asset_type=COLLATERAL')) as {
        allowances: object;
      };
      const exchanges = Object.keys(allowances).length;
      return [error ?? errorMsg, await json(venue, '/version'), exchanges];
    },
    spec: ['order_version_mismatch', { version: 1 }, 2],
    polymarket: ['', { version: 1 }, 5],
  },
  resolveConditionId: {
    look: (venue) => refusal(venue, { sent: { conditionId: undefined } }),
    spec: 'Invalid order payload',
    polymarket: '',
  },
  duplicateOrders: {
    look: async (venue) => {
      const usual: Terms = { market: venue.plain, side: 'BUY', ticks: 1, shares: 5 };
      const { item } = venue.alice.sign(usual);
      const first = await post(venue, item);
      const second = await post(venue, item);
      return second.orderID === first.orderID && [second.success, second.status];
    },
    spec: [false, 'live'],
    polymarket: [true, 'live'],
  },
  orderTexts: {
    look: async (venue) => [
      await refusal(venue, { ticks: 60, shares: 5_000, type: 'FOK' }),
      await refusal(venue, { ticks: 60, postOnly: true }),
      await refusal(venue, { side: 'SELL', ticks: 40, postOnly: true }),
      await refusal(venue, { ticks: 50, type: 'FAK' }),
      await refusal(venue, { type: 'GTD', signed: { expiration: '1' } }),
      await refusal(venue, { type: 'GTD' }),
      await refusal(venue, { signed: { expiration: '9999999999' } }),
    ],
    spec: [
      "order couldn't be fully filled, FOK orders are fully filled/killed",
      'postOnly would cross the best ask',
      'postOnly would cross the best bid',
      'no orders found to match with FAK order. FAK orders are partially filled or killed if no match is found.',
      'expiration must be in the future',
      'expiration is required',
      'invalid expiration',
    ],
    polymarket: [
      "order couldn't be fully filled. FOK orders are fully filled or killed.",
      'invalid post-only order: order crosses book',
      'invalid post-only order: order crosses book',
      'no orders found to match with FAK order. FAK orders are partially filled or killed if no match is found.',
      'invalid expiration',
      'invalid expiration',
      'invalid expiration',
    ],
  },
  maxCancelIds: {
    look: async ({ alice, node }) => {
      const id = (i: number) => `0x${i.toString(16).padStart(64, '0')}`;
      const sent = async (count: number) => {
        const ids = Array.from({ length: count }, (_, i) => id(i));
        return (await alice.ask(node, 'DELETE', '/orders', JSON.stringify(ids))).json;
      };
      const whole = (await sent(3_000)) as { error?: string; not_canceled?: object };
      const { error } = (await sent(3_001)) as { error: string };
      return [whole.error ?? Object.keys(whole.not_canceled!).length, error];
    },
    spec: [
      'Too many orders in payload, max allowed: 1000',
      'Too many orders in payload, max allowed: 1000',
    ],
    polymarket: [3_000, 'Too many orders in payload, max allowed: 3000'],
  },
  heartbeatError: {
    look: async ({ alice, node }) => {
      const body = JSON.stringify({ heartbeat_id: '6505202e-ade6-430e-b97c-bc57458e42d1' });
      const { json: answer, status } = await alice.ask(node, 'POST', '/v1/heartbeats', body);
      const { error, error_msg: text } = answer as { error: string; error_msg?: string };
      return [status, error, text];
    },
    spec: [400, 'invalid heartbeat_id', undefined],
    polymarket: [400, 'invalid heartbeat_id', 'Invalid Heartbeat ID'],
  },
  orderStatus: {
    look: async (venue) => {
      const { data } = (await own(venue, '/data/orders')) as { data: { status: string }[] };
      return data.at(-1)?.status;
    },
    spec: 'live',
    polymarket: 'LIVE',
  },
  apiKeysAnswer: {
    look: async (venue) => {
      const answer = await own(venue, '/auth/api-keys');
      return Array.isArray(answer) ? 'array' : Object.keys(answer as object);
    },
    spec: 'array',
    polymarket: ['apiKeys'],
  },
  revokedAnswer: {
    look: async ({ alice, node, rules }) => {
      const headers = level1(rules.prefix, alice.wallet, CHAIN_ID, seconds(), '7');
      const { json: key } = await send(node, 'POST', '/auth/api-key', headers);
      const query = `?apiKey=${(key as { apiKey: string }).apiKey}`;
      return (await alice.call(node, 'DELETE', '/auth/api-key', query)).json;
    },
    spec: { revoked: true },
    polymarket: 'OK',
  },
  priceOfBuy: {
    look: async (venue) => {
      const [token = ''] = venue.plain.tokenIds;
      const both = JSON.stringify([{ token_id: token }]);
      const { json: prices } = await send(venue.node, 'POST', '/prices', {}, both);
      return [
        await json(venue, `/price?token_id=${token}&side=BUY`),
        await json(venue, `/price/${token}?side=SELL`),
        (prices as Record<string, object>)[token],
        // What is meant by a side is told to who names none.
        ((await json(venue, `/price?token_id=${token}&side=buy`)) as { detail: string }).detail,
        ((await json(venue, `/price/${token}`)) as { detail: string }).detail,
      ];
    },
    spec: [
      { price: '0.6' },
      { price: '0.4' },
      { BUY: '0.6', SELL: '0.4' },
      ...Array<string>(2).fill('side must be BUY (the best ask) or SELL (the best bid)'),
    ],
    polymarket: [
      { price: '0.4' },
      { price: '0.6' },
      { BUY: '0.4', SELL: '0.6' },
      ...Array<string>(2).fill('side must be BUY (the best bid) or SELL (the best ask)'),
    ],
  },
  booksSide: {
    look: async ({ node, plain }) => {
      const body = JSON.stringify([{ token_id: plain.tokenIds[0], side: 'BUY' }]);
      const { json: books } = await send(node, 'POST', '/books', {}, body);
      const [book] = books as { asks: unknown[]; bids: unknown[] }[];
      return [book!.bids.length > 0, book!.asks.length > 0];
    },
    spec: [true, false],
    polymarket: [true, true],
  },
  untraded: {
    look: async (venue) => {
      const paths = ['midpoint', 'last-trade-price'].map(
        (name) => `/${name}?token_id=${venue.risky.tokenIds[0]}`,
      );
      return [await json(venue, paths[0]!), await json(venue, paths[1]!)];
    },
    spec: [
      { error: 'No midpoint for the requested token id', code: 'NO_MIDPOINT' },
      { error: 'No trades found for the requested token id', code: 'NO_TRADES' },
    ],
    // A bid of 0.01 rests there.
    polymarket: [{ mid: '0.505' }, { price: '0.5', side: '' }],
  },
  tradesAsset: {
    look: async (venue) => {
      const { conditionId, tokenIds } = venue.plain;
      const kinds = { [`${conditionId}:0`]: 'outcome', [tokenIds[0]!]: 'token' };
      const user = `user=${venue.alice.address}`;
      type Row = { readonly asset: string; readonly token_id?: string };
      const firstOf = async (path: string) => ((await json(venue, path)) as Row[])[0];
      const closed = `/closed-positions?${user}`;
      await until(async () => (await firstOf(closed)) !== undefined);
      const rows = await Promise.all(['/trades', `/activity?${user}`, closed].map(firstOf));
      const isNamed = (row: Row): boolean => (row.token_id ?? row.asset) === tokenIds[0];
      assert(rows.every((row) => isNamed(row!)));
      return rows.map((row) => [kinds[row!.asset], row!.token_id !== undefined]);
    },
    spec: new Array(3).fill(['outcome', true]),
    polymarket: new Array(3).fill(['token', false]),
  },
  tradesFields: {
    look: async ({ alice, node }) => {
      const asked = [
        '/trades?limit=1&start=5&asset_id=7',
        `/positions?user=${alice.address}&foo=1`,
      ];
      return Promise.all(
        asked.map(async (path) => {
          const { headers, status } = await get(node, path);
          return [status, headers['x-ignored-parameters']];
        }),
      );
    },
    spec: [
      [400, undefined],
      [400, undefined],
    ],
    polymarket: [
      [200, 'start, asset_id'],
      [200, 'foo'],
    ],
  },
  catalogObjects: {
    look: async (venue) => {
      const [listed] = (await json(venue, '/events?limit=1')) as object[];
      const market = (await json(venue, '/markets/1')) as object;
      const { events } = (await json(venue, '/public-search?q=question')) as { events: object[] };
      return ['markets' in listed!, 'marketMakerAddress' in market, 'markets' in events[0]!];
    },
    spec: [false, false, false],
    polymarket: [true, true, true],
  },
  marketRoutes: {
    look: async (venue) => {
      const id = venue.plain.conditionId;
      const kind = (answer: unknown): string => {
        const [row] = Array.isArray(answer) ? answer : ((answer as { data?: [] }).data ?? [answer]);
        const found = row as object;
        return 'tokens' in found ? 'trading' : 'id' in found ? 'catalog' : 'sampling';
      };
      const paths = ['/markets?next_cursor=', `/markets/${id}`, '/sampling-markets', '/markets'];
      const under = [`/clob/markets/${id}`, `/gamma/markets/${id}`, '/gamma/markets?next_cursor='];
      return Promise.all([...paths, ...under].map(async (path) => kind(await json(venue, path))));
    },
    spec: ['catalog', 'catalog', 'sampling', 'catalog', 'trading', 'catalog', 'catalog'],
    polymarket: ['trading', 'trading', 'trading', 'catalog', 'trading', 'catalog', 'catalog'],
  },
  takerDelays: {
    look: async ({ node, risky }) => {
      const { json } = await get(node, `/clob-markets/${risky.conditionId}`);
      const { itode, sd } = json as { readonly itode?: boolean; readonly sd?: number };
      return [itode, sd];
    },
    spec: [undefined, undefined],
    polymarket: [true, 3],
  },
  catalogErrors: {
    look: async (venue) => {
      const paths = ['/markets?limit=abc', '/events?ascending=up', '/events/x', '/public-search'];
      const answers = paths.map(async (path) => {
        const { json: body, status } = await get(venue.node, path);
        const { code, detail, error, type } = body as Record<string, string>;
        assert.deepEqual([status, type, code], [400, 'bad request', 'BAD_REQUEST']);
        assert(detail!.length > 0);
        return error;
      });
      return Promise.all(answers);
    },
    spec: ['q is required', 'q is required', 'q is required', 'q is required'],
    polymarket: [
      'limit must be a whole number from 1 to 500',
      'ascending must be true, false, 1 or 0',
      'id must be a whole number',
      'q is required',
    ],
  },
  feesFromCatalog: {
    look: async (venue) =>
      ((await json(venue, `/clob-markets/${venue.plain.conditionId}`)) as { fd: object }).fd,
    spec: { r: 0, e: 0, to: true },
    polymarket: { r: 0.04, e: 1, to: true },
  },
  relayer: {
    look: async ({ alice, node }) => {
      const { status } = await get(node, `/nonce?address=${alice.address}&type=WALLET`);
      return [status, (await send(node, 'POST', '/submit', {}, '{}')).status];
    },
    spec: [404, 404],
    polymarket: [200, 400],
  },
  dataTrades: {
    look: async (venue) => {
      const open = await get(venue.node, '/data/trades?limit=1');
      const signed = (await own(venue, '/data/trades')) as { readonly count: number };
      return [open.status, signed.count > 0];
    },
    spec: [401, true],
    polymarket: [200, true],
  },
  // The last row: it trades.
  tradeIds: {
    look: async (venue) => {
      const taken = { market: venue.idle, ticks: 50, shares: 5 } as const;
      await post(venue, venue.alice.sign({ ...taken, side: 'BUY' }).item);
      const result = (await post(venue, venue.alice.sign({ ...taken, side: 'SELL' }).item)) as {
        readonly status: string;
        readonly tradeIDs?: readonly string[];
      };
      const [id] = result.tradeIDs ?? [];
      if (id === undefined) return [result.status];
      const trades = async () =>
        ((await own(venue, `/data/trades?id=${id}`)) as { data: { id: string }[] }).data;
      await until(async () => (await trades()).length > 0);
      const [trade] = (await trades()) as {
        id: string;
        transaction_hash: string;
        status: string;
      }[];
      assert.match(trade!.transaction_hash, /^0x[0-9a-f]{64}$/);
      return [result.status, trade!.id === id, trade!.status];
    },
    spec: ['matched'],
    polymarket: ['matched', true, 'CONFIRMED'],
  },
};

test('an order of version 2 rests, is known by its digest, is matched and cancelled as one of version 1', async () => {
  const venue = venues.polymarket;
  const { alice, node, plain } = venue;
  const bid = signed2(venue, { makerAmount: '2500000' });
  const placed = await post(venue, bid.item);
  assert.deepEqual([placed.errorMsg, placed.status, placed.orderID], ['', 'live', bid.id]);
  assert.deepEqual(await post(venue, bid.item), placed, 'replayed');
  // Version 1 takes half a bid of version 2, at its price.
  const sold = await alice.place(node, { market: plain, side: 'SELL', ticks: 50, shares: 5 });
  assert.deepEqual([sold.status, sold.makingAmount, sold.takingAmount], ['matched', '5', '2.5']);
  const { status } = (await own(venue, `/data/order/${bid.id}`)) as { status: string };
  assert.equal(status, 'MATCHED');
  const rest = signed2(venue, { side: 1, makerAmount: '7000000', takerAmount: '6300000' });
  assert.equal((await post(venue, rest.item)).orderID, rest.id);
  assert.deepEqual((await alice.cancel(node, '/order', { orderID: rest.id })).canceled, [rest.id]);
});

test('signed fields of version 2 are checked, and unsigned ones may have any value', async () => {
  const venue = venues.polymarket;
  const { item } = signed2(venue);
  const risky = { tokenId: venue.risky.tokenIds[0]!, makerAmount: '50000' };
  assert.equal((await post(venue, signed2(venue, risky).item)).errorMsg, 'invalid order signature');
  const { errorMsg: right } = await post(venue, signed2(venue, risky, {}, NEG_RISK_2).item);
  assert.equal(right, '', 'a neg-risk market has a contract of its own');
  for (const change of [{ timestamp: '5' }, { builder: `0x${'1'.repeat(64)}` }, { salt: 7 }]) {
    const { errorMsg } = await post(venue, { ...item, order: { ...item.order, ...change } });
    assert.equal(errorMsg, 'invalid order signature', JSON.stringify(change));
  }
  const { error } = await post(venue, { ...item, order: { ...item.order, metadata: '0x1' } });
  assert.equal(error, 'Invalid order payload');
  const later = String(Math.floor(Date.now() / 1000) + 1000);
  const gtd = signed2(venue, {}, { expiration: later });
  const placed = { ...gtd.item, orderType: 'GTD' };
  assert.equal((await post(venue, placed)).errorMsg, '');
  // Nor is its expiration: with another one it is not the same order sent again.
  const order = { ...placed.order, expiration: `${later}0` };
  assert.match((await post(venue, { ...placed, order })).errorMsg, /Duplicated/);
});

test('pages of markets follow one another to the end, tokens and prices in them', async () => {
  const { node, plain } = venues.polymarket;
  const { headers, json: answer } = await get(node, '/markets?next_cursor=MA%3D%3D&closed=true');
  assert.equal(headers['x-ignored-parameters'], 'closed', 'these pages have no filters');
  const { data, ...rest } = answer as {
    data: { condition_id: string; tokens: { price: number; token_id: string }[] }[];
  };
  assert.deepEqual(rest, { limit: 100, next_cursor: 'LTE=', count: 3 });
  const { tokens = [] } = data.find(({ condition_id: id }) => id === plain.conditionId) ?? {};
  assert.deepEqual(
    tokens.map(({ token_id: id }) => id),
    plain.tokenIds,
  );
  // Figures come up to a second behind the books, and always both at once.
  const [yes, no] = tokens.map(({ price }) => price);
  assert(yes! > 0 && Math.abs(yes! + no! - 1) < 1e-9);
});

test('a mirror reads equal data from a node of any profile, also by the base path of its catalog', async () => {
  const { signal } = new AbortController();
  const pulled = PROFILES.flatMap((profile) =>
    ['', '/gamma'].map((base) => {
      const url = `http://127.0.0.1:${venues[profile].node.port}${base}`;
      return pullCatalog({ url, limits: SYNC_LIMITS, signal, knownEtag: undefined });
    }),
  );
  const [first, ...others] = await Promise.all(pulled);
  assert(first?.kind === 'pulled', JSON.stringify(first));
  assert.match(JSON.stringify(first.file), /"raw_metadata":{"version":7}/);
  for (const other of others) assert.deepEqual(other, { ...first, etag: first.etag });
});

test('the client of this repository works in both profiles', async () => {
  for (const { alice, node, plain } of Object.values(venues)) {
    const client = await NodeClient.connect(`http://127.0.0.1:${node.port}`, {
      wallet: alice.wallet,
      orderVersion: 1,
    });
    assert((await client.keys.list()).includes(alice.trio.apiKey));
    assert.equal((await client.catalog.market(plain.conditionId)).id, plain.id);
    const { data } = await client.call('GET /sampling-markets', {});
    assert.equal(data[0]?.market_id, Number(plain.id));
    const terms = { tokenId: plain.tokenIds[0]!, side: 'BUY', price: '0.02', size: '5' } as const;
    const { id, status } = await client.orders.post(terms);
    assert.equal(status, 'live');
    assert.deepEqual((await client.orders.cancel(id)).canceled, [id]);
  }
});

for (const profile of PROFILES) {
  for (const [name, seen] of Object.entries(ROWS)) {
    test(`${name} in the profile ${profile}`, async () => {
      assert.deepEqual(await seen.look(venues[profile]), seen[profile]);
    });
  }
}
